#if Serve
internal import TidelineServer
internal import TidelineStore

/// A copy of the tables of one store in another, row by row, so that the engines of the two may differ.
struct StoreCopy {
    /// A copied table.
    struct Table {
        var schema: TableSchema
        var count = 0
        /// A sum of the hash values of all rows as they were written. Comparable only within one process.
        var digest = 0
    }

    /// The copied tables, ordered by name.
    private(set) var tables: [Table] = []

    /// The number of rows in the app's tables.
    var rowCount: Int { tables.filter { !$0.schema.isSystem }.reduce(0) { $0 + $1.count } }
    /// The number of the app's tables.
    var tableCount: Int { tables.count { !$0.schema.isSystem } }

    /// Rows are written in batches of at most this number, and of about this number of bytes.
    private static let batchLimit = (rows: 2_000, bytes: 4 << 20)

    // MARK: Reading

    /// Returns the definitions of all tables in a snapshot.
    ///
    /// - Parameter names: The names of the tables before the snapshot began. Served tables that another process has
    ///   created since then are found through their records.
    static func schemas(named names: [String], in reader: some StoreReader) throws -> [TableSchema] {
        var names = names
        if names.contains(ServedTableRecord.schema.name) {
            try reader.scan(TableQuery(ServedTableRecord.schema.name)) { row in
                if !names.contains(row.idText) { names.append(row.idText) }
                return .next
            }
        }
        return try names.sorted().compactMap { name in
            do {
                return try reader.schema(of: name)
            } catch let error as StoreError where error.code == .noSuchTable {
                // The record is written before the table is defined.
                return nil
            }
        }
    }

    // MARK: Writing

    /// Copies the rows of tables that the destination has already defined, with all columns optional.
    ///
    /// - Parameters:
    ///   - schemas: The tables.
    ///   - stamps: The timestamps for rows of served tables, or `nil` to keep those of the source.
    ///   - write: Runs a closure in a transaction of the destination: one for each call, or one for all.
    mutating func copy<Writer: StoreWriter>(
        _ schemas: [TableSchema], from reader: some StoreReader, stamps: RestoredStamps? = nil,
        write: ((Writer) throws -> Void) throws -> Void
    ) throws {
        for schema in schemas {
            var table = Table(schema: schema)
            try copy(&table, from: reader, stamps: RestoredStamps.isServed(schema) ? stamps : nil, write: write)
            tables.append(table)
        }
    }

    /// Copies rows. With stamps, they get new timestamps in the order of the previous ones.
    private func copy<Writer: StoreWriter>(
        _ table: inout Table, from reader: some StoreReader, stamps: RestoredStamps?,
        write: ((Writer) throws -> Void) throws -> Void
    ) throws {
        let name = table.schema.name
        var batch = PackedRows(shape: table.schema.withoutRequirements.makeShape())
        var stamp = stamps?.first
        try reader.scan(TableQuery(name, order: stamps == nil ? [] : [OrderTerm("updatedAt")])) { row in
            if let new = stamp {
                var row = row.owned()
                row["updatedAt"] = .timestamp(new)
                try batch.append(row)
                stamp = try ServedTableRecord.stamp(after: new, in: name)
            } else {
                try batch.append(copying: row)
            }
            if batch.count >= Self.batchLimit.rows || batch.byteCount >= Self.batchLimit.bytes {
                try Self.flush(&batch, of: &table, write)
            }
            return .next
        }
        try Self.flush(&batch, of: &table, write)
        if let stamp { try write { try ServedTableRecord.setClock(of: name, to: stamp, in: $0) } }
    }

    private static func flush<Writer: StoreWriter>(
        _ batch: inout PackedRows, of table: inout Table, _ write: ((Writer) throws -> Void) throws -> Void
    ) throws {
        guard !batch.isEmpty else { return }
        try write { try $0.upsert(batch, into: table.schema.name) }
        batch.forEachRow { table.add($0) }
        batch.removeAll()
    }

    // MARK: Verification

    /// Compares the definitions and rows of the copy with those that were written.
    ///
    /// - Throws: `StoreError` with code `corrupt`, naming the table, if they differ.
    func verify(in reader: some StoreReader) throws {
        for table in tables {
            let name = table.schema.name
            var found = Table(schema: try reader.schema(of: name))
            try reader.scan(TableQuery(name)) { row in
                found.add(row)
                return .next
            }
            guard found.schema == table.schema else {
                throw StoreError(.corrupt, "the copy has another definition of the table", table: name)
            }
            // The clocks of tables without a record were added, and those of all were changed.
            let hasClocks = name == ServedTableRecord.schema.name
            guard found.count == table.count || hasClocks && found.count > table.count else {
                throw StoreError(
                    .corrupt, "the copy has \(found.count) rows in place of \(table.count)", table: name)
            }
            guard found.digest == table.digest || hasClocks else {
                throw StoreError(.corrupt, "the rows of the copy differ from those that were written", table: name)
            }
        }
    }
}

extension TableSchema {
    /// The definition with all columns optional. A column that is required now is null in rows that are older than the
    /// requirement, and these must be copied as they are.
    var withoutRequirements: TableSchema {
        var schema = self
        for index in schema.columns.indices { schema.columns[index].isOptional = true }
        return schema
    }
}

extension StoreCopy.Table {
    fileprivate mutating func add(_ row: borrowing RowView) {
        var hasher = Hasher()
        hasher.combine(row.id)
        // An absent value is stored as null.
        for index in 0..<row.shape.count { hasher.combine(row.value(at: index) ?? .null) }
        count += 1
        digest &+= hasher.finalize()
    }
}

/// The timestamps of rows that are restored, all later than any that a client can have seen.
struct RestoredStamps {
    /// The timestamp of the first row of each table.
    let first: Timestamp

    /// Added to the latest timestamp that is known. The server's clock may have been set back since the backup; each
    /// write then advances it by one tick, and this margin is as many ticks as a server can need in days.
    private static let margin = 60 * Timestamp.ticksPerSecond

    /// - Parameter tables: The tables of the backup.
    init(after tables: [TableSchema], in reader: some StoreReader) throws {
        var latest = Timestamp.now
        for table in tables where Self.isServed(table) {
            if let clock = try ServedTableRecord.clock(of: table.name, in: reader) { latest = max(latest, clock) }
            let greatest = try ServedTableRecord.greatestTimestamp(of: table.name, in: reader)
            if let greatest { latest = max(latest, greatest) }
        }
        first = latest.advanced(byTicks: Self.margin)
    }

    /// Whether the rows of a table get new timestamps.
    static func isServed(_ table: TableSchema) -> Bool { !table.isSystem && table.systemColumns == .all }
}
#endif
