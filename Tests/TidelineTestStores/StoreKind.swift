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

/// A kind of store that tests run over. To add one: an entry in ``all``.
///
/// What a kind says of itself is what its stores' capabilities say; the contract's tests hold one against the other, so
/// that a list of kinds chosen by it leaves nobody out.
public struct StoreKind: Sendable, CustomTestStringConvertible {
    /// The name that failing tests show.
    public let testDescription: String
    /// The name by which the second process of the tests opens such a store; nil where there are no files to open.
    public let engine: String?
    /// Whether the rows are there again after the store was closed and opened.
    public var isPersistent: Bool { engine != nil }
    /// Whether other processes and other stores of this one may open the same files at the same time.
    public let sharesFiles: Bool
    /// Whether readers and a writer do not wait for each other.
    public let readsBesideWriter: Bool
    private let opening: Opening
    private let lasting: Opening?

    private typealias Opening = @Sendable (_ path: String) throws -> any LocalStore

    /// - Parameter lasting: Opens it for the conformance suite, where `opening` has less durability than it may have.
    private init(
        _ name: String, engine: String?, sharesFiles: Bool = false, readsBesideWriter: Bool = true,
        lasting: Opening? = nil, opening: @escaping Opening
    ) {
        testDescription = name
        self.engine = engine
        self.sharesFiles = sharesFiles
        self.readsBesideWriter = readsBesideWriter
        self.opening = opening
        self.lasting = lasting
    }

    /// Where the store lies in a folder.
    public func path(in folder: String) -> String { "\(folder)/store" }

    /// Opens the store in a folder, or makes an empty one where it does not persist.
    public func open(_ folder: String) throws -> any LocalStore { try opening(path(in: folder)) }
}

extension StoreKind {
    /// How the conformance suite makes such a store.
    public var harness: StoreHarness {
        let open = lasting ?? opening
        var harness = StoreHarness(name: testDescription, modes: [], process: probe, faults: InterposedFiles()) {
            try open(path(in: $0.directory))
        }
        harness.fixtures = fixtures
        return harness
    }

    /// Stores of this kind as released versions made them; none of the example's, which is no product.
    private var fixtures: String? {
        guard let engine, engine != "sorted" else { return nil }
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.appendingPathComponent("Fixtures/\(engine)").path
    }

    /// The second process, beside the tests' executable.
    private var probe: StoreProcess? {
        guard let engine, let folder = Bundle.main.executableURL?.deletingLastPathComponent() else { return nil }
        return StoreProcess(executable: folder.appendingPathComponent("StoreProbe").path, arguments: [engine])
    }
}

// MARK: - The kinds

extension StoreKind {
    private static let sqliteFile = StoreKind("SQLite file", engine: "sqlite", sharesFiles: true) {
        try SQLiteStore(path: $0)
    }
    /// A file with checksums: apart from damage, it is as one without.
    public static let sqliteWithChecksums = StoreKind(
        "SQLite file with checksums", engine: "sqlite-checksums", sharesFiles: true
    ) { try SQLiteStore(path: $0, options: SQLiteOptions(checksums: true)) }
    private static let sqliteInMemory = StoreKind("SQLite in memory", engine: nil, readsBesideWriter: false) { _ in
        try SQLiteStore.inMemory()
    }
    /// Nothing is synced: what that is for, a loss of power, no test can make.
    private static let lmdb = StoreKind(
        "LMDB", engine: "lmdb", sharesFiles: true,
        lasting: { try LMDBStore(path: $0, options: LMDBOptions(durability: .full)) },
        opening: { try LMDBStore(path: $0, options: LMDBOptions(durability: .none)) })
    private static let levelDB = StoreKind("LevelDB", engine: "leveldb") { try LevelDBStore(path: $0) }
    private static let memory = StoreKind("memory", engine: nil) { _ in try MemoryStore() }
    /// A store as an app may make its own.
    private static let sortedFile = StoreKind("sorted file", engine: "sorted") {
        try KeyValueStore(engine: SortedFileEngine(path: $0))
    }

    /// Every kind, in the one form that most tests run over.
    public static let all = [sqliteFile, sqliteInMemory, lmdb, levelDB, memory, sortedFile]

    /// One kind for each engine of the package, the one that costs least.
    public static let perEngine = [sqliteInMemory, lmdb, levelDB, memory]

    /// One for tests in which the store has no part.
    public static let simplest = memory

    /// The kinds that keep their rows when they are closed.
    public static let persistent = all.filter(\.isPersistent)

    /// The persistent kinds whose files several stores and processes open at once.
    public static let sharing = persistent.filter(\.sharesFiles)

    /// The persistent kinds whose files one store has to itself.
    public static let exclusive = persistent.filter { !$0.sharesFiles }

    /// The kinds whose readers and writer do not wait for each other.
    public static let concurrent = all.filter(\.readsBesideWriter)
}
