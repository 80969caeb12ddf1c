internal import Synchronization
internal import TidelineStore

/// The source of row timestamps: the current time, but always later than the last timestamp of the same table.
///
/// Pulls by `updatedAt` rely on this order: of two commits, the later one has the later timestamp. Timestamps are taken
/// inside write transactions, which run one after the other, so their order is the order of commits.
struct StampSource: ~Copyable {
    private let clock: @Sendable () -> Timestamp
    /// Whether timestamps are the current time, truncated to milliseconds, so that rows may share them.
    private let isCoarse: Bool
    private let last = Mutex<[String: Timestamp]>([:])

    init(clock: @escaping @Sendable () -> Timestamp, isCoarse: Bool = false) {
        self.clock = clock
        self.isCoarse = isCoarse
    }

    /// Returns the next timestamp for a row of `table`. Call it inside the transaction that writes the row.
    func next(for table: String, in reader: some StoreReader) throws -> Timestamp {
        if isCoarse { return clock().flooredToMillisecond }
        let known = last.withLock { $0[table] }
        // After a restart, the greatest timestamp is looked up once, with the index.
        let previous = try known ?? Self.greatest(in: table, reader)
        var stamp = clock()
        if let previous, stamp <= previous {
            stamp = previous.advanced(byTicks: 1)
            guard stamp > previous else {
                throw StoreError(.invalidValue, "no later timestamp is possible", table: table, column: "updatedAt")
            }
        }
        last.withLock { $0[table] = stamp }
        return stamp
    }

    private static func greatest(in table: String, _ reader: some StoreReader) throws -> Timestamp? {
        var greatest: Timestamp?
        try reader.scan(Query(table).order(by: "updatedAt", descending: true).limit(1)) { row in
            greatest = row["updatedAt"]?.timestamp
            return .stop
        }
        return greatest
    }
}
