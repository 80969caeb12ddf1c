public import TidelineConformance
public import TidelineLive
public import TidelineStore

/// An observed store with live queries of each table that is defined, so that each of its writes is recorded.
public final class WatchedStore: LocalStore {
    private let store: ObservedStore<AnyStore>
    private let queries = LockedValue<[LiveQuery<Row>.Iterator]>([])

    /// Wraps a store.
    public init(_ base: any LocalStore) {
        // Some transactions of the suite are larger.
        store = ObservedStore(AnyStore(base), maximumRecordedRows: 200)
    }

    public var capabilities: StoreCapabilities { store.capabilities }
    public func tables() throws -> [TableSchema] { try store.tables() }
    public func externalCommitNumber() throws -> UInt64? { try store.externalCommitNumber() }
    public var commitSignalPath: String? { store.commitSignalPath }
    public func read<T>(_ body: (AnyReader) throws -> T) throws -> T { try store.read(body) }
    public func write<T>(_ body: (ObservedWriter<AnyWriter>) throws -> T) throws -> T { try store.write(body) }

    public func define(_ tables: [TableSchema]) throws {
        try store.define(tables)
        for table in tables {
            for query in [
                TableQuery(table.name), TableQuery(table.name, order: [OrderTerm("id", descending: true)], limit: 3),
            ] {
                var updates = store.observe(query).makeAsyncIterator()
                // A definition within a body of the store is not observed.
                guard (try? updates.start(in: store)) != nil else { continue }
                queries.withLock { [updates] in $0.append(updates) }
            }
        }
    }

    public func close() throws {
        try store.close()
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
