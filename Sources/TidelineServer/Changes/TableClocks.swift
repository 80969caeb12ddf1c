internal import TidelineStore

/// The last timestamps of tables.
///
/// The names fold ASCII case, like the identifiers of the records in which the timestamps are stored.
struct TableClocks: Sendable {
    private var stamps: [String: Timestamp] = [:]

    /// The timestamps by folded names.
    var folded: [String: Timestamp] { stamps }

    /// Creates clocks with the timestamps of these tables.
    init(_ stamps: [String: Timestamp] = [:]) {
        for (table, stamp) in stamps { self[table] = stamp }
    }

    /// Reads the recorded timestamps of all tables with one query.
    init(in reader: some StoreReader) throws {
        let query = Query(ServedTableRecord.schema.name, selection: ["id", "clock"])
        try reader.scan(query) { row in
            if let stamp = row["clock"]?.timestamp { self[row.idText] = stamp }
            return .next
        }
    }

    /// Reads the timestamps of these tables, also of those that only earlier versions have written to.
    init(of tables: [String], in reader: some StoreReader) throws {
        try self.init(in: reader)
        for table in tables where self[table] == nil {
            self[table] = try ServedTableRecord.clock(of: table, in: reader)
        }
    }

    subscript(table: String) -> Timestamp? {
        get { stamps[table.asciiLowercased] }
        set { stamps[table.asciiLowercased] = newValue }
    }

    /// Replaces the timestamps that are earlier than in another value.
    mutating func advance(to other: TableClocks) {
        stamps.merge(other.stamps) { max($0, $1) }
    }
}
