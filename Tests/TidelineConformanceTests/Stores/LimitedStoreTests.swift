import BrokenStores
import Testing
import TidelineConformance
import TidelineKeyValue
import TidelineMemory
import TidelineStore
import TidelineTestSupport

/// An in-memory store that declares a maximum number of tables and indexes, and refuses more.
private struct LimitedStore: StoreLayer {
    typealias Reader = MemoryStore.Reader
    typealias Writer = MemoryStore.Writer

    static let maximum = 151

    let base: MemoryStore

    var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.maximumTablesAndIndexes = Self.maximum
        return capabilities
    }

    func define(_ tables: [TableSchema]) throws { try redefine { _ in tables } }

    func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        let known = try base.tables()
        try base.redefine { writer in
            let tables = try body(writer)
            let names = Set(tables.map(\.name))
            let kept = known.filter { !names.contains($0.name) }
            let count = (kept + tables).reduce(0) { $0 + 1 + $1.indexes.count }
            guard count <= Self.maximum else {
                throw StoreError(.tooManyTables, "there would be \(count) tables and indexes", table: tables.last?.name)
            }
            return tables
        }
    }
}

/// A store that declares other capabilities.
struct DeclaringStore<Base: LocalStore>: StoreLayer {
    typealias Reader = Base.Reader
    typealias Writer = Base.Writer

    let base: Base
    let capabilities: StoreCapabilities

    init(_ base: Base, _ change: (inout StoreCapabilities) -> Void) {
        var capabilities = base.capabilities
        change(&capabilities)
        (self.base, self.capabilities) = (base, capabilities)
    }
}

@Suite("Stores with declared limits")
struct LimitedStoreTests {
    /// A fifth of the full amounts: the long check defines up to two hundred tables.
    private static let suite = ConformanceSuite(
        StoreHarness(modes: []) { _ in LimitedStore(base: try MemoryStore()) },
        settings: ConformanceSettings(rows: 20_000, profile: .long))

    @Test(
        "A store that keeps to its maximum of tables passes every check of many tables",
        arguments: ["MOD-024", "SCA-007", "TRN-065", "TRN-066", "LNG-002"])
    func passes(_ id: String) async throws {
        let check = try #require(Check.named(id))
        try await ConcurrencyLimit.checks.run { try await Self.suite.verify(check) }
    }

    @Test(
        "A store without a maximum length of ids passes every check of long ids",
        arguments: ["LIF-005", "GET-003", "GET-014", "VAL-039", "VAL-040", "MOD-001", "MOD-011", "MOD-012"])
    func passesWithoutLimit(_ id: String) async throws {
        let suite = ConformanceSuite(
            StoreHarness(modes: []) { opening in
                DeclaringStore(try PlainStore(opening, flaw: .tooLongIDAccepted)) { $0.maximumIDLength = .max }
            },
            settings: ConformanceSettings(rows: 500))
        let check = try #require(Check.named(id))
        try await ConcurrencyLimit.checks.run { try await suite.verify(check) }
    }
}
