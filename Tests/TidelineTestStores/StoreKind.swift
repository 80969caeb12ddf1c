internal import Foundation
internal import SortedFileStore
public import Testing
public import TidelineConformance
internal import TidelineFaults
internal import TidelineKeyValue
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite
public import TidelineStore
internal import TidelineTestSupport

/// A kind of store that tests run over. To add one, add an entry to ``all``.
///
/// The properties of a kind repeat its stores' capabilities. The contract tests compare the two, so that a list
/// filtered by a property is complete.
public struct StoreKind: Sendable, CustomTestStringConvertible {
    /// The name shown when a test fails.
    public let testDescription: String
    /// The name by which the probe process opens such a store, or `nil` if the store has no files.
    public let engine: String?
    /// Whether the store keeps its rows when it is closed.
    public var isPersistent: Bool { engine != nil }
    /// Whether other processes, and other stores in this process, can open the same files at the same time.
    public let sharesFiles: Bool
    /// Whether a reader and the writer can work at the same time.
    public let readsBesideWriter: Bool
    private let opening: Opening
    private let lasting: Opening?
    private let readOnly: Opening?
    /// Opens the key-value engine below the store.
    private let keyValueEngine: (@Sendable (_ path: String) throws -> any OrderedKeyValueEngine)?
    private let destroy: (@Sendable (_ path: String) throws -> Void)?

    private typealias Opening = @Sendable (_ path: String) throws -> any LocalStore

    /// - Parameters:
    ///   - lasting: Opens the store for the conformance suite, if `opening` uses a lower durability than the store
    ///     supports.
    ///   - readOnly: Opens the store for reading only.
    ///   - keyValueEngine: Opens the key-value engine below the store.
    private init(
        _ name: String, engine: String?, sharesFiles: Bool = false, readsBesideWriter: Bool = true,
        lasting: Opening? = nil, readOnly: Opening? = nil,
        keyValueEngine: (@Sendable (_ path: String) throws -> any OrderedKeyValueEngine)? = nil,
        destroy: (@Sendable (_ path: String) throws -> Void)? = nil, opening: @escaping Opening
    ) {
        testDescription = name
        self.engine = engine
        self.sharesFiles = sharesFiles
        self.readsBesideWriter = readsBesideWriter
        self.opening = opening
        self.lasting = lasting
        self.readOnly = readOnly
        self.keyValueEngine = keyValueEngine
        self.destroy = destroy
    }

    /// Makes a kind that only some tests run over, and that is not in a file.
    public init(_ name: String, making store: @escaping @Sendable () throws -> any LocalStore) {
        self.init(name, engine: nil) { _ in try store() }
    }

    /// Returns the path of the store in the given folder.
    public func path(in folder: String) -> String { "\(folder)/store" }

    /// Opens the store in the given folder, or makes an empty one if the kind is not persistent.
    public func open(_ folder: String) throws -> any LocalStore { try opening(path(in: folder)) }
}

extension StoreKind {
    /// The harness that runs the conformance suite on stores of this kind.
    public var harness: StoreHarness {
        let open = lasting ?? opening
        let modes: Set<StoreHarness.Mode> = readOnly == nil ? [] : [.readOnly]
        let process = engine.map { StoreProcess.probe($0) }
        var harness = StoreHarness(name: testDescription, modes: modes, process: process, faults: InterposedFiles()) {
            let path = path(in: $0.directory)
            if let readOnly, $0.access == .readOnly { return try readOnly(path) }
            return try open(path)
        }
        harness.fixtures = fixtures
        if let keyValueEngine { harness.engine = { try keyValueEngine(path(in: $0)) } }
        if let destroy { harness.destroy = { try destroy(path(in: $0)) } }
        return harness
    }

    /// The folder of stores written by released versions, or `nil` if there is none. The example store was never
    /// released.
    private var fixtures: String? {
        guard let engine, engine != "sorted" else { return nil }
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.appendingPathComponent("Fixtures/\(engine)").path
    }
}

extension StoreProcess {
    /// Makes the second process of tests, an executable in the same folder.
    public static func probe(_ arguments: String...) -> StoreProcess {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent()
        let executable = folder?.appendingPathComponent("StoreProbe").path ?? ""
        return StoreProcess(executable: executable, arguments: arguments)
    }
}

// MARK: - Kinds

extension StoreKind {
    /// A thread or process that has a lock can stand still for long on a busy machine.
    private static let patience = Duration.seconds(WaitLimit.seconds)

    public static let sqliteFile = StoreKind(
        "SQLite file", engine: "sqlite", sharesFiles: true,
        readOnly: { try SQLiteStore(path: $0, options: SQLiteOptions(isReadOnly: true, busyTimeout: patience)) },
        destroy: SQLiteStore.destroy,
        opening: { try SQLiteStore(path: $0, options: SQLiteOptions(busyTimeout: patience)) })
    /// A SQLite file with page checksums.
    public static let sqliteWithChecksums = StoreKind(
        "SQLite file with checksums", engine: "sqlite-checksums", sharesFiles: true
    ) { try SQLiteStore(path: $0, options: SQLiteOptions(busyTimeout: patience, checksums: true)) }
    public static let sqliteInMemory = StoreKind("SQLite in memory", engine: nil, readsBesideWriter: false) { _ in
        try SQLiteStore.inMemory()
    }
    /// Opens without syncing to disk: the tests cannot simulate a loss of power.
    public static let lmdb = StoreKind(
        "LMDB", engine: "lmdb", sharesFiles: true,
        lasting: { try LMDBStore(path: $0, options: LMDBOptions(durability: .full, busyTimeout: patience)) },
        readOnly: { try LMDBStore(path: $0, options: LMDBOptions(isReadOnly: true, busyTimeout: patience)) },
        keyValueEngine: { try LMDBEngine(path: $0, options: LMDBOptions(durability: .none)) },
        destroy: LMDBStore.destroy,
        opening: { try LMDBStore(path: $0, options: LMDBOptions(durability: .none, busyTimeout: patience)) })
    public static let levelDB = StoreKind(
        "LevelDB", engine: "leveldb", keyValueEngine: { try LevelDBEngine(path: $0) },
        destroy: LevelDBStore.destroy, opening: { try LevelDBStore(path: $0) })
    private static let memory = StoreKind(
        "memory", engine: nil, keyValueEngine: { _ in MemoryEngine() }, opening: { _ in try MemoryStore() })
    /// A custom store as an app could implement it.
    private static let sortedFile = StoreKind("sorted file", engine: "sorted") {
        try KeyValueStore(engine: SortedFileEngine(path: $0))
    }

    /// Every kind of store, each in one configuration.
    public static let all = [sqliteFile, sqliteInMemory, lmdb, levelDB, memory, sortedFile]

    /// One kind for each engine of the package, in its fastest configuration.
    public static let perEngine = [sqliteInMemory, lmdb, levelDB, memory]

    /// The kind for tests that do not depend on the store.
    public static let simplest = memory

    /// The kinds that keep their rows when they are closed.
    public static let persistent = all.filter(\.isPersistent)

    /// The persistent kinds whose files several stores and processes can open at the same time.
    public static let sharing = persistent.filter(\.sharesFiles)
}
