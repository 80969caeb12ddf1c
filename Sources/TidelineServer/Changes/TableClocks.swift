internal import TidelineStore

/// The last timestamps of tables.
///
/// The names fold ASCII case, like the identifiers of the records in which the timestamps are stored.
struct TableClocks: Sendable {
    private(set) var folded: [String: Timestamp] = [:]

    /// Returns the folded form of a name.
    static func fold(_ table: String) -> String { table.asciiLowercased }

    /// Creates clocks with the timestamps of these tables.
    init(_ stamps: [String: Timestamp] = [:]) {
        for (table, stamp) in stamps { self[table] = stamp }
    }

    /// Reads the recorded timestamps of all tables with one query.
    init(in reader: some StoreReader) throws {
        let query = TableQuery(ServedTableRecord.schema.name, selection: ["id", "clock"])
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
        get { folded[Self.fold(table)] }
        set { folded[Self.fold(table)] = newValue }
    }

    /// Replaces the timestamps that are earlier than in another value.
    mutating func advance(to other: TableClocks) {
        folded.merge(other.folded) { max($0, $1) }
    }
}
