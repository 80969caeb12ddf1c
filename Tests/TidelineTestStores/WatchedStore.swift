public import TidelineConformance
public import TidelineLive
public import TidelineStore

/// An observed store with live queries of each table that is defined, so that each of its writes is recorded.
public final class WatchedStore: StoreLayer {
    public typealias Reader = AnyStore.Reader
    public typealias Writer = ObservedWriter<AnyStore.Writer>

    public let base: ObservedStore<AnyStore>
    private let queries = LockedValue<[LiveQuery<Row>.Iterator]>([])

    /// Wraps a store.
    public init(_ base: any LocalStore) {
        // Some transactions of the suite are larger.
        self.base = ObservedStore(AnyStore(base), maximumRecordedRows: 200)
    }

    public func define(_ tables: [TableSchema]) throws {
        try base.define(tables)
        watch(tables)
    }

    public func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        var tables: [TableSchema] = []
        try base.redefine { writer in
            tables = try body(writer)
            return tables
        }
        watch(tables)
    }

    private func watch(_ tables: [TableSchema]) {
        for table in tables {
            for query in [
                TableQuery(table.name), TableQuery(table.name, order: [OrderTerm("id", descending: true)], limit: 3),
            ] {
                var updates = base.observe(query).makeAsyncIterator()
                // A definition within a body of the store is not observed.
                guard (try? updates.start(in: base)) != nil else { continue }
                queries.withLock { [updates] in $0.append(updates) }
            }
        }
    }

    public func close() throws {
        try base.close()
        queries.withLock { $0 = [] }
    }
}

extension StoreKind {
    /// The harness that runs the conformance suite on observed stores of this kind, in this process.
    public var observedHarness: StoreHarness {
        var harness = StoreHarness(name: "\(testDescription), observed", modes: []) { [self] in
            WatchedStore(try open($0.directory))
        }
        harness.damagesFiles = false
        return harness
    }
}
