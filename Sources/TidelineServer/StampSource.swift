internal import Synchronization
internal import TidelineStore

/// The instants that rows are stamped with: the clock's, but in each table always later than the last.
///
/// A pull by `updatedAt` relies on it: of two commits the later has the later stamp. Stamps are taken inside write
/// transactions, which run one after the other, so that their order is the order of commits.
struct StampSource: ~Copyable {
    private let clock: @Sendable () -> Timestamp
    /// Whether stamps are the clock's own, cut to milliseconds, so that rows may share them.
    private let isCoarse: Bool
    private let last = Mutex<[String: Timestamp]>([:])

    init(clock: @escaping @Sendable () -> Timestamp, isCoarse: Bool = false) {
        self.clock = clock
        self.isCoarse = isCoarse
    }

    /// The next stamp for a row of `table`, to be called inside the transaction that writes the row.
    func next(for table: String, in reader: some StoreReader) throws -> Timestamp {
        if isCoarse { return clock().flooredToMillisecond }
        let known = last.withLock { $0[table] }
        // After a restart the greatest stamp is looked up once, in the index.
        let previous = try known ?? Self.greatest(in: table, reader)
        var stamp = clock()
        if let previous, stamp <= previous {
            stamp = previous.advanced(byTicks: 1)
            guard stamp > previous else {
                throw StoreError(.invalidValue, "the table's clock is at its end", table: table, column: "updatedAt")
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
