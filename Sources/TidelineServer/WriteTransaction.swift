internal import TidelineStore

/// A transaction in which one or more requests write, one after the other.
///
/// A request decides first and writes last: if it throws before its first change, the transaction can be used for other
/// requests.
final class WriteTransaction<Store: LocalStore> {
    let writer: Store.Writer
    private let options: TableServiceOptions
    /// The last timestamps of the tables that are changed.
    private(set) var clocks: [String: Timestamp] = [:]
    /// The definitions that are known to be current, by the names of their tables.
    private var current: [String: ServedTable] = [:]
    /// The number of changes.
    private(set) var changes = 0
    /// The row that was written last.
    private(set) var lastRow: WrittenRow?

    typealias WrittenRow = (table: String, id: RowID, version: String, stamp: Timestamp)

    init(_ writer: Store.Writer, _ options: TableServiceOptions) {
        self.writer = writer
        self.options = options
    }

    /// Checks that the definition of a table is current. It stays current until the transaction ends, so that the store is
    /// asked only once.
    ///
    /// - Throws: ``OutdatedDefinition`` if another service has changed it.
    func requireCurrent(_ table: ServedTable) throws {
        let name = table.schema.name
        if let known = current[name], known.revision == table.revision, known.schema == table.schema { return }
        try table.requireCurrent(in: writer)
        current[name] = table
    }

    /// Returns the timestamp for a row: the current time, but always later than the last timestamp of the table, whichever
    /// service made it.
    ///
    /// Pulls by `updatedAt` rely on this order. The clock of a table is read and set in the transaction that writes the
    /// rows, and transactions run one after the other, so the order of timestamps is the order of commits.
    func nextStamp(for table: String) throws -> Timestamp {
        var stamp = options.clock()
        let given = stamp.flooredToMillisecond
        let previous = try clocks[table] ?? ServedTableRecord.clock(of: table, in: writer)
        if let previous, stamp <= previous {
            stamp = previous.advanced(byTicks: 1)
            guard stamp > previous else {
                throw StoreError(.invalidValue, "no later timestamp is possible", table: table, column: "updatedAt")
            }
        }
        clocks[table] = stamp
        // Rows with the same timestamp are still different commits for the change signal, which compares the clock.
        return options.quirks.contains(.millisecondStamps) ? given : stamp
    }

    /// Writes a row with its timestamp and version.
    func upsert(_ row: Row, version: String, stamp: Timestamp, into table: String) throws {
        var row = row
        row["updatedAt"] = .timestamp(stamp)
        row["version"] = .string(version)
        changes += 1
        try writer.upsert(row, into: table)
        lastRow = (table, row.id ?? .string(row.idText), version, stamp)
    }

    /// Deletes a row without leaving a tombstone. The clock of the table advances, so that the change is signaled.
    func delete(_ id: String, from table: String) throws {
        _ = try nextStamp(for: table)
        changes += 1
        try writer.delete(ids: [.string(id)], from: table)
    }

    /// Writes the clocks of the tables; call it at the end of the transaction.
    func saveClocks() throws {
        for (table, stamp) in clocks { try ServedTableRecord.setClock(of: table, to: stamp, in: writer) }
    }
}
