import CLMDB
import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests of folders, files, and how stores open and share them. The conformance suite tests the requirements of stores.
@Suite struct LMDBFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func storeOne() throws {
        try withEngine(folder.path) { engine in try engine.write { try $0.put(key(1, "a"), [1]) } }
    }

    @Test(arguments: [
        ("", "empty"), ("a\0b", "NUL"), ("missing/store", "parent folder does not exist"),
        ("file", "is a file"), ("file/store", "parent folder is a file"),
        (String(repeating: "x", count: 300), "too long"),
    ])
    func aFolderThatCannotBeIsRefusedWithTheReason(name: String, reason: String) throws {
        _ = FileManager.default.createFile(atPath: "\(folder.path)/file", contents: Data("x".utf8))
        let path = name.isEmpty ? "" : "\(folder.path)/\(name)"
        let error = expectError(.io) { _ = try LMDBEngine(path: path) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.path == path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }

    @Test func aLinkThatLeadsNowhereIsNotSaidToBeUnwanted() throws {
        let path = "\(folder.path)/link"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(folder.path)/nowhere")
        let error = expectError(.io) { _ = try LMDBEngine(path: path) }
        #expect(error?.message.contains("cannot be created there") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [["letter.txt"], ["CURRENT", "LOCK", "000003.log"], ["lock.mdb", "x"]])
    func aFolderOfOtherFilesIsNotAStoreAndLeftAlone(names: [String]) throws {
        for name in names {
            _ = FileManager.default.createFile(atPath: "\(folder.path)/\(name)", contents: Data("x".utf8))
        }
        let error = expectError(.notAStore) { _ = try LMDBEngine(path: folder.path) }
        #expect(error?.message.contains("other files") == true)
        #expect(error?.path == folder.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names.sorted())
    }

    @Test func whatTheSystemPutsIntoFoldersIsNoMatter() throws {
        _ = FileManager.default.createFile(atPath: "\(folder.path)/.DS_Store", contents: Data())
        try LMDBEngine(path: folder.path).close()
    }

    @Test func whatIsNotToBeCreatedIsNot() throws {
        let none = LMDBOptions(createsIfMissing: false)
        expectError(.io) { _ = try LMDBEngine(path: "\(folder.path)/store", options: none) }
        expectError(.io) { _ = try LMDBEngine(path: folder.path, options: none) }
        expectError(.io) { _ = try LMDBEngine(path: folder.path, options: LMDBOptions(isReadOnly: true)) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func aDatabaseBecomesAStoreOnlyIfThatMayBeCreated() throws {
        try LMDBEngine(path: folder.path).close()
        let existing = LMDBOptions(createsIfMissing: false)
        expectError(.io) { _ = try LMDBStore(path: folder.path, options: existing) }
        try LMDBStore(path: folder.path).close()
        try LMDBStore(path: folder.path, options: existing).close()
    }

    @Test(arguments: ["data.mdb", "lock.mdb"])
    func aFolderInTheFilesPlaceIsAnError(name: String) throws {
        try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        expectError(.io) { _ = try LMDBEngine(path: folder.path) }
        if name == "data.mdb" { #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name]) }
    }

    @Test("The first map has the size of the options", arguments: [1 << 16, 1 << 24])
    func firstMap(_ size: Int) throws {
        #expect(try withEngine(folder.path, LMDBOptions(mapSize: size)) { $0.environment.mapUsage.size } == size)
    }

    @Test(
        "A failed creation removes only an empty store, and only its own folder",
        arguments: [true, false], [true, false])
    func abandonedCreation(_ isFilled: Bool, _ existed: Bool) throws {
        let path = "\(folder.path)/store"
        let files = FileManager.default
        if existed { try files.createDirectory(atPath: path, withIntermediateDirectories: false) }
        let engine = try LMDBEngine(path: path)
        if isFilled { try engine.write { try $0.put(key(1, "a"), [1]) } }
        try engine.close()
        EnvironmentRegistry.shared.abandonCreation(of: engine.environment)
        #expect(files.fileExists(atPath: path) == (isFilled || existed))
        #expect(files.fileExists(atPath: "\(path)/data.mdb") == isFilled)
    }

    @Test("A snapshot that two commits have overtaken while it began is begun again")
    func overtakenSnapshot() throws {
        let engine = try LMDBEngine(path: folder.path)
        var transaction: OpaquePointer?
        try #require(mdb_txn_begin(engine.environment.handle, nil, UInt32(MDB_RDONLY), &transaction) == 0)
        let begun = try #require(transaction)
        let number = mdb_txn_id(begun)
        for commits in 1...2 {
            try engine.write { try $0.put(key(1, "a"), [UInt8(commits)]) }
            #expect(engine.environment.renewIfOvertaken(begun) == MDB_SUCCESS)
            #expect(mdb_txn_id(begun) == (commits == 1 ? number : number + 2))
        }
        mdb_txn_abort(begun)
        try engine.close()
    }

    // One at a time: each takes half of the address space of the process, in which a map of the other could grow.
    @Test(
        "A map for which there is too little address space begins smaller", .serialized,
        arguments: [Int.max / 2, Int.max])
    func largeMap(_ size: Int) throws {
        for number in 0..<2 {
            let options = LMDBOptions(mapSize: size, maximumMapSize: size)
            let engine = try LMDBEngine(path: "\(folder.path)/store", options: options)
            let environment = engine.environment
            // LMDB cannot restore the old map if it has unmapped it for a larger one. Other tests may have freed
            // some space.
            expectError(.full) {
                try environment.withoutOthers(within: .zero) { () throws(StoreError) in
                    while true { try environment.growMap(to: size) }
                }
            }
            try engine.write { try $0.put(key(1, "\(number)"), Array(repeating: 1, count: 1 << 20)) }
            #expect(engine.environment.mapUsage.size < 1 << 50)
            try engine.close()
        }
        #expect(try withEngine("\(folder.path)/store") { try $0.count(1) } == 2)
    }

    @Test func whatAnInterruptedCreationLeftIsNoMatter() throws {
        try FileManager.default.createDirectory(atPath: "\(folder.path)/.creating", withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: "\(folder.path)/.creating/data.mdb", contents: Data([1, 2, 3]))
        try storeOne()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == ["data.mdb", "lock.mdb", "tideline.state"])
    }

    @Test func aMissingLockFileIsNoMatter() throws {
        try storeOne()
        try FileManager.default.removeItem(atPath: "\(folder.path)/lock.mdb")
        #expect(try withEngine(folder.path) { engine in try engine.read { try $0.value(key(1, "a")) } } == [1])
    }

    @Test func aReadOnlyStoreReadsAndRefusesToWrite() throws {
        try storeOne()
        let reader = try LMDBEngine(path: folder.path, options: LMDBOptions(isReadOnly: true))
        #expect(reader.capabilities.isReadOnly)
        #expect(try reader.read { try $0.value(key(1, "a")) } == [1])
        expectError(.readOnly) { try reader.write { try $0.put(key(1, "a"), [2]) } }
        expectError(.locked) { _ = try LMDBEngine(path: folder.path) }
        try reader.close()
        let writer = try LMDBEngine(path: folder.path)
        let beside = try LMDBEngine(path: folder.path, options: LMDBOptions(isReadOnly: true))
        try writer.write { try $0.put(key(1, "a"), [2]) }
        #expect(try beside.read { try $0.value(key(1, "a")) } == [2])
        expectError(.readOnly) { try beside.write { try $0.put(key(1, "a"), [3]) } }
        try writer.close()
        #expect(try beside.read { try $0.value(key(1, "a")) } == [2])
        try beside.close()
    }

    @Test func storesOfOneProcessShareAFolderWhateverItsPath() throws {
        let link = "\(folder.path)/link"
        let first = try LMDBEngine(path: "\(folder.path)/store")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder.path)/store")
        let second = try LMDBEngine(path: link)
        #expect(first.environment === second.environment)
        for _ in 0..<2 { try first.close() }
        expectError(.closed) { _ = try first.count(1) }
        expectError(.closed) { try first.write { try $0.put(key(1, "a"), []) } }
        #expect(try second.count(1) == 0)
        try second.close()
    }

    /// On a full disk, a write through the map to a hole of the file would end the process.
    @Test(arguments: [false, true]) func theLockFileHasNoHoles(isReadOnly: Bool) throws {
        try storeOne()
        try FileManager.default.removeItem(atPath: "\(folder.path)/lock.mdb")
        let options = LMDBOptions(isReadOnly: isReadOnly, maximumReaders: 1_000)
        try LMDBEngine(path: folder.path, options: options).close()
        var status = stat()
        #expect(stat("\(folder.path)/lock.mdb", &status) == 0)
        #expect(Int(status.st_blocks) * 512 >= Int(status.st_size))
    }

    @Test func aWriteWithinAWriteOfAnotherStoreOnTheFolderIsBusy() throws {
        let first = try LMDBEngine(path: folder.path)
        let second = try LMDBEngine(path: folder.path)
        try first.write { transaction throws in
            try transaction.put(key(1, "a"), [1])
            expectError(.busy) { try second.write { try $0.put(key(1, "a"), [2]) } }
            #expect(try second.read { try $0.value(key(1, "a")) } == nil)
        }
        try second.write { try $0.put(key(1, "b"), [2]) }
        #expect(try first.count(1) == 2)
        try first.close()
        try second.close()
    }

    @Test func filesReplacedWhileTheyAreOpenAreNotMistakenForThem() throws {
        let engine = try LMDBEngine(path: folder.path)
        try FileManager.default.removeItem(atPath: "\(folder.path)/data.mdb")
        expectError(.io) { _ = try LMDBEngine(path: folder.path) }
        try engine.close()
        #expect(try withEngine(folder.path) { try $0.count(1) } == 0)
    }

    @Test(arguments: [StoreCapabilities.Durability.none, .normal, .full])
    func everyDurabilityIsDeclaredAndKept(durability: StoreCapabilities.Durability) throws {
        let engine = try LMDBEngine(path: folder.path, options: LMDBOptions(durability: durability))
        let other = try LMDBEngine(path: folder.path, options: LMDBOptions(durability: .full))
        #expect(engine.capabilities.durability == durability)
        #expect(engine.capabilities.isPersistent && engine.capabilities.sharesFilesWithProcesses)
        try other.write { try $0.put(key(1, "a"), [1]) }
        #expect(engine.environment.flags & (0x10000 | 0x40000) == 0)
        try engine.write { try $0.put(key(1, "b"), [1]) }
        #expect(engine.environment.flags & 0x10000 == (durability == .none ? 0x10000 : 0))
        #expect(engine.environment.flags & 0x40000 == (durability == .normal ? 0x40000 : 0))
        try engine.close()
        try other.close()
        #expect(try withEngine(folder.path) { try $0.count(1) } == 2)
    }

    @Test func manyThreadsOpenAndCloseOneFolder() throws {
        try onThreads(16) { thread throws in
            for round in 0..<10 {
                try withEngine("\(folder.path)/store", LMDBOptions(durability: .none)) { engine in
                    try engine.write { try $0.put(key(UInt32(thread), "\(round)"), [1]) }
                }
            }
        }
        try withEngine("\(folder.path)/store") { engine throws in
            for thread in 0..<16 as Range<UInt32> { #expect(try engine.count(thread) == 10) }
        }
    }

    @Test func aStoreThatIsDroppedClosesItself() throws {
        do {
            let engine = try LMDBEngine(path: folder.path, options: LMDBOptions(isReadOnly: false))
            try engine.write { try $0.put(key(1, "a"), [1]) }
        }
        #expect(try withEngine(folder.path, LMDBOptions(isReadOnly: true)) { $0.environment.isReadOnly })
    }

    @Test(arguments: EarlierNames.definitions)
    func aNameThatIsNotInNormalizationFormCIsRefused(_ definitions: [TableSchema]) throws {
        let store = try LMDBStore(path: folder.path)
        try EarlierNames.fill(store, definitions)
        let reader = try LMDBStore(path: folder.path, options: LMDBOptions(isReadOnly: true))
        try store.replaceStoredName(EarlierNames.name, with: EarlierNames.stored)
        try reader.close()
        try store.close()
        EarlierNames.expectRefusal(definitions) { _ = try LMDBStore(path: folder.path) }
        EarlierNames.expectRefusal(definitions) {
            _ = try LMDBStore(path: folder.path, options: LMDBOptions(isReadOnly: true))
        }
        try LMDBStore.destroy(path: folder.path)
    }

    @Test func aFolderOfAnotherProgramIsRefused() throws {
        try withEngine(folder.path) { engine in try engine.write { try $0.put(key(1, "not a store's"), [1]) } }
        expectError(.notAStore) { _ = try LMDBStore(path: folder.path) }
        // The store was closed when opening failed: an engine can open it for reading only.
        try LMDBEngine(path: folder.path, options: LMDBOptions(isReadOnly: true)).close()
    }
}
