internal import TidelineStore

/// Records the rows that one transaction changes in tables under observation.
final class ChangeRecorder {
    private let hub: ObservationHub
    /// The tables that the transaction has changed; `nil` for those that nobody observes.
    private var tables: [(name: String, recorded: RecordedTable?)] = []

    init(_ hub: ObservationHub) { self.hub = hub }

    /// Returns the records of a table, or `nil` if nobody observes it.
    func table(_ name: String, in reader: some StoreReader) throws -> RecordedTable? {
        for table in tables where table.name == name { return table.recorded }
        let recorded = try hub.recordedTable(name, in: reader)
        tables.append((name, recorded))
        return recorded
    }

    /// The tables under observation that the transaction has changed.
    var recorded: [RecordedTable] { tables.compactMap(\.recorded) }
}
