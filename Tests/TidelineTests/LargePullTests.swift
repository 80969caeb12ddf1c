import Foundation
import Testing
import Tideline
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

#if os(macOS) || os(Linux)
/// Pulls of more rows than fit in memory, by clients that are killed.
///
/// `TIDELINE_LARGE_PULL` sets the number of rows (default 20,000).
@Suite("Large pulls", .serialized)
struct LargePullTests {
    private static let rows =
        ProcessInfo.processInfo.environment["TIDELINE_LARGE_PULL"].flatMap { Int($0) } ?? 20_000
    private static let pageSize = 500
    private static let kills = 3

    /// The kinds of store, and the memory of their engines that does not depend on the data, in kB: the page
    /// cache of SQLite's writer within a transaction, LevelDB's block cache and its two buffers.
    private static let stores = StoreKind.persistent.compactMap { kind -> (kind: StoreKind, memory: Int)? in
        let memory = ["sqlite": 16 << 10, "lmdb": 0, "leveldb": 96 << 10]
        return kind.engine.flatMap { memory[$0] }.map { (kind, $0) }
    }

    @Test("A killed pull resumes at the last stored row, has each row once, and bounds its memory", arguments: stores)
    func resumes(_ kind: StoreKind, engineMemory: Int) throws {
        let small = try TemporaryFolder()
        let highestOfSmall = try PullingProcess(kind, small.path, rows: 2000, pageSize: Self.pageSize).finish()
            .memory
        let folder = try TemporaryFolder()
        var clients: [PullingProcess] = []
        // The number of stored rows. The token is stored with them.
        var stored = 0
        for kill in 0..<Self.kills {
            let client = try PullingProcess(kind, folder.path, rows: Self.rows, pageSize: Self.pageSize)
            let part = Self.rows / (Self.kills + 1)
            try client.kill(whenAskedFor: .random(in: (part * kill)..<(part * (kill + 1))))
            clients.append(client)
            #expect(client.asked.first == Self.beginning(after: stored))
            stored = try withStore(kind, folder.path) { try $0.count(TableQuery(NumberedRow.schema.name)) }
        }
        clients.append(try PullingProcess(kind, folder.path, rows: Self.rows, pageSize: Self.pageSize).finish())
        #expect(clients.last?.asked.first == Self.beginning(after: stored))
        try expectEveryRow(in: kind, folder.path)
        // Only the pages that a killed client had not stored are requested again.
        let pages = Self.rows / (Self.pageSize - 1) + 1
        #expect(clients.map(\.asked.count).reduce(0, +) <= pages + Self.kills * (PullingProcess.pagesHeld + 1))
        let highest = clients.map(\.memory).max() ?? 0
        #if os(Linux)
        #expect(highest > 0)
        #endif
        #expect(highest <= highestOfSmall + engineMemory + 16 << 10)
    }

    /// Returns the row at which a pull starts if `stored` rows are stored: the last one, minus the look-back.
    private static func beginning(after stored: Int) -> Int { max(stored - 1 - 5, 0) }

    private func withStore<T>(
        _ kind: StoreKind, _ folder: String, _ body: (any StoreReader) throws -> T
    ) throws -> T {
        func read(_ store: some LocalStore) throws -> T {
            defer { try? store.close() }
            return try store.read { try body($0) }
        }
        return try read(kind.open(folder))
    }

    private func expectEveryRow(in kind: StoreKind, _ folder: String) throws {
        var (count, sum) = (0, 0)
        _ = try withStore(kind, folder) { reader in
            try reader.scan(TableQuery(NumberedRow.schema.name)) { row in
                let number = row["number"]?.int.map(Int.init) ?? -1
                count += 1
                sum += number
                guard NumberedRow(number).isSame(as: row) else {
                    Issue.record("row \(number) is not as the server has it")
                    return .stop
                }
                return .next
            }
        }
        // Identifiers are unique in the store, and each number has its own identifier, so no row is stored twice.
        #expect(count == Self.rows)
        #expect(sum == Self.rows * (Self.rows - 1) / 2)
    }
}
#endif
