import CLMDB
import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests an LMDB store beside processes that are killed, suspended, or have little address space.
@Suite(.serialized) struct LMDBSharedFilesTests {
    private static let items = TableSchema("Item", columns: [.int("number")], systemColumns: [])
    private static let quick = LMDBOptions(durability: .none, busyTimeout: .milliseconds(200))
    private static let patient = LMDBOptions(durability: .none, busyTimeout: .seconds(600))

    private let kind = StoreKind.lmdb
    private let files: StoreFiles
    private let folder: TemporaryFolder
    private var path: String { kind.path(in: files.path) }

    init() throws {
        files = try StoreFiles(kind)
        folder = try TemporaryFolder()
        let store = try files.open()
        try store.define([Self.items])
        try store.close()
    }

    @Test("The file does not grow after a process was killed during a read")
    func deadReader() throws {
        let engine = try LMDBEngine(path: folder.path, options: Self.quick)
        try engine.write { try $0.put(key(1, "a"), [0]) }
        let other = try OtherProcess("read", folder.path)
        #expect(other.wait(for: 1) == 1)
        _ = other.end()
        #expect(engine.environment.readers.count { !$0.contains("\(getpid()) ") } == 1)
        for number in 0..<2_000 { try engine.write { try $0.put(key(1, "a"), [UInt8(number % 251)]) } }
        let size = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/data.mdb")[.size] as? Int
        #expect(size ?? .max < 4 << 20)
        try engine.close()
    }

    @Test("An index that is removed leaves its database for the next one")
    func removedIndexes() throws {
        let store = try LMDBStore(path: path, options: Self.quick)
        var table = Self.items
        for number in 0..<100 {
            table.indexes = number % 2 == 0 ? [["number"]] : [["number", "id"]]
            try store.define([table])
            try store.write {
                try $0.upsert(["id": .string("\(number)"), "number": .int(Int64(number))], into: "Item")
            }
            #expect(
                try store.read { try $0.count(TableQuery("Item", predicate: .column("number") >= 0)) } == number + 1)
        }
        try store.withEngine { engine in #expect(engine.environment.spaces.withLock { $0.count } <= 4) }
        #expect(store.capabilities.maximumTablesAndIndexes == 4_095)
        try store.close()
    }

    @Test(
        "Beside a process that is suspended inside a write, opening succeeds and a write ends in time or when cancelled"
    )
    func suspendedWriter() async throws {
        let other = try EditingProcess(kind, files.path)
        try other.start("hold 1")
        try other.expect("holding")
        other.setSuspended(true)
        defer { other.setSuspended(false) }
        let row: Row = ["id": "2", "number": 2]
        let store = try LMDBStore(path: path, options: Self.quick)
        expectError(.busy) { try store.write { try $0.upsert(row, into: "Item") } }
        #expect(try store.read { try $0.count(TableQuery("Item")) } == 0)
        try store.close()
        let waiting = try LMDBStore(path: path, options: Self.patient)
        let task = Task { try waiting.write { try $0.upsert(row, into: "Item") } }
        // The process is counted as a writer directly before it waits for the lock.
        try await suspendUntil("the writer") { try waiting.withEngine { $0.environment.isCounted } }
        task.cancel()
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        other.setSuspended(false)
        try other.start("")
        try other.expect("done")
        try waiting.write { try $0.upsert(row, into: "Item") }
        #expect(try waiting.read { try $0.count(TableQuery("Item")) } == 2)
        try waiting.close()
        try other.finish()
    }

    @Test("Opening a folder that another process has locked for too long is busy, and ends when cancelled")
    func suspendedOpening() async throws {
        let path = path
        let folder = open(path, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        try #require(tideline_lmdb_flock(folder, LOCK_EX) == 0)
        expectError(.busy) { _ = try LMDBStore(path: path, options: Self.quick) }
        #expect(await cancelled { _ = try LMDBStore(path: path, options: Self.patient) } == .cancelled)
        try #require(tideline_lmdb_flock(folder, LOCK_UN) == 0)
        try LMDBStore(path: path, options: Self.quick).close()
    }

    @Test("A process with little address space has a smaller map")
    func smallAddressSpace() throws {
        let other = try EditingProcess(kind, files.path, addressSpace: 1 << 20)
        try other.start("grow 0 120")
        for number in 0..<120 { try other.expect("grown \(number)") }
        try other.expect("done")
        try other.finish()
        let store = try files.open()
        #expect(try store.read { try $0.count(TableQuery("Growing")) } == 120 * GrowingTable.rowsPerCommit)
        try store.close()
    }

    /// Returns the code of the error that `body` throws in a cancelled task.
    private func cancelled(_ body: @escaping @Sendable () throws -> Void) async -> StoreError.Code? {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try body()
        }
        let error = await #expect(throws: StoreError.self) { try await task.value }
        return error?.code
    }

    @Test("A file that another process has enlarged gets a map of at most twice its size")
    func adoptedMap() throws {
        let engine = try LMDBEngine(path: folder.path, options: LMDBOptions(durability: .none, mapSize: 1 << 40))
        var other: OpaquePointer?
        try #require(mdb_env_create(&other) == 0 && mdb_env_set_mapsize(other, 1 << 20) == 0)
        defer { mdb_env_close(other) }
        try #require(mdb_env_open(other, folder.path, UInt32(MDB_NOLOCK | MDB_NOTLS), 0o644) == 0)
        try engine.write { try $0.put(key(1, "a"), Array(repeating: 1, count: 3 << 20)) }
        let used = engine.environment.mapUsage.used
        let size = try Environment.sizeForFile(of: try #require(other), folder.path)
        #expect(used < size && size <= 2 * used)
        try engine.close()
    }

    @Test("A read waits for reads of other processes, in time and until it is cancelled")
    func fullReaderTable() async throws {
        let quick = try LMDBEngine(path: path, options: Self.quick)
        let patient = try LMDBEngine(path: path, options: Self.patient)
        let environment = patient.environment
        var others: [OpaquePointer] = []
        var other: OpaquePointer?
        while mdb_txn_begin(environment.handle, nil, UInt32(MDB_RDONLY), &other) == 0, let other {
            others.append(other)
        }
        expectError(.busy) { try quick.read { _ in } }
        #expect(await cancelled { try patient.read { _ in } } == .cancelled)
        let task = Task.detached { try patient.read { _ in true } }
        // The map cannot be resized while a read has begun.
        try await suspendUntil("the read") {
            do {
                try environment.withoutOthers(within: .zero) {}
                return false
            } catch { return true }
        }
        mdb_txn_abort(others.removeLast())
        #expect(try await task.value)
        for other in others { mdb_txn_abort(other) }
        try patient.close()
        try quick.close()
    }

    @Test("A read after another process has created a table keeps one entry in the reader table")
    func tableOfAnotherProcess() throws {
        let store = try LMDBStore(path: path, options: Self.quick)
        #expect(try store.read { try $0.count(TableQuery("Item")) } == 0)
        let other = try EditingProcess(kind, files.path)
        try other.start("grow 0 1")
        for line in ["grown 0", "done"] { try other.expect(line) }
        try other.finish()
        for _ in 0..<2 {
            #expect(try store.read { try $0.count(TableQuery("Growing")) } == GrowingTable.rowsPerCommit)
        }
        let readers = try store.withEngine { $0.environment.readers }
        #expect(readers.count { $0.contains("\(getpid()) ") } == 1)
        try store.close()
    }

    @Test("More reads at once than the reader table has entries wait")
    func manyReaders() throws {
        let engine = try LMDBEngine(
            path: folder.path, options: LMDBOptions(durability: .none, maximumReaders: 1, busyTimeout: .zero))
        try engine.write { try $0.put(key(1, "a"), [1]) }
        let places = engine.environment.readerPlaces
        let begun = DispatchSemaphore(value: 0)
        let isOver = DispatchSemaphore(value: 0)
        let count = places + 20
        try onThreads(count + 1) { number in
            if number < count {
                try engine.read { _ in
                    begun.signal()
                    isOver.wait()
                }
            } else {
                for _ in 0..<places { try begun.finish() }
                for _ in 0..<count { isOver.signal() }
            }
        }
        try engine.close()
    }
}
