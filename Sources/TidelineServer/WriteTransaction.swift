internal import TidelineStore
internal import TidelineWire

/// A transaction in which one or more requests write, one after the other.
///
/// A request decides first and writes last: if it throws before its first change, the transaction can be used for other
/// requests. The rows that several requests read are read together, and those that they write are written together at
/// the end, so that a database server is not asked for each of them. A request alone takes fewer instructions without
/// that.
final class WriteTransaction<Store: LocalStore> {
    private let writer: Store.Writer
    private let options: TableServiceOptions
    private let isForSeveral: Bool
    /// The last timestamps of the tables that are changed.
    private var clocks: [String: Timestamp] = [:]
    /// The table whose definition was found to be current last.
    private var current: ServedTable?
    /// The records of the tables whose definitions are known to be current, by their names.
    private var records: [String: ServedTableRecord] = [:]
    /// The rows that were read or written; `nil` for those that do not exist.
    private var rows: [Key: WholeRow?] = [:]
    /// Whether rows exist that were not read because they can belong to others.
    private var isTaken: [Key: Bool] = [:]
    /// The rows to write, by table, in the order of the requests.
    private var unwritten: [String: [WholeRow]] = [:]
    /// The size of these rows in bytes.
    private var byteCount = 0
    /// The size in bytes up to which rows are kept. Those of a group of small changes can be large.
    private static var maximumByteCount: Int { 16 << 20 }
    private(set) var changes = 0
    private(set) var lastRow: WrittenRow?

    typealias WrittenRow = (table: String, id: RowID, version: String, stamp: Timestamp)

    /// A table, and the id of a row in the form in which the ids of the table compare.
    private struct Key: Hashable {
        let table: String
        let id: RowID

        init(_ id: RowID, in table: ServedTable) {
            self.table = table.schema.name
            self.id = table.schema.idMatching == .exact ? id : .string(id.text.asciiLowercased)
        }
    }

    /// A row with all columns of its table.
    private final class WholeRow {
        let packed: PackedRows

        init(_ packed: consuming PackedRows) { self.packed = packed }
    }

    /// - Parameter writes: The writes that will run in this transaction.
    init(_ writer: Store.Writer, _ options: TableServiceOptions, for writes: [PendingWrite<Store>] = []) throws {
        self.writer = writer
        self.options = options
        isForSeveral = writes.count > 1
        if isForSeveral { try readRows(of: writes) }
    }

    /// Checks that the definition of a table is current. It stays current until the transaction ends, so that the store
    /// is asked only once.
    ///
    /// - Throws: ``OutdatedDefinition`` if another service has changed it.
    func requireCurrent(_ table: ServedTable) throws {
        guard table !== current else { return }
        let name = table.schema.name
        let record = try records[name] ?? ServedTableRecord(of: name, in: writer)
        records[name] = record
        try table.requireCurrent(record, in: writer)
        current = table
    }

    // MARK: Reading

    /// Reads the rows that writes begin with.
    private func readRows(of writes: [PendingWrite<Store>]) throws {
        let tables = Dictionary(grouping: writes) { $0.table.schema.name }
        for writes in tables.values {
            let table = writes[0].table
            // A key path of a generic type would be created each time.
            let ids = writes.map { $0.id }
            // A definition that is not current is an error of its writes.
            guard table.schema.idType == .string, (try? requireCurrent(table)) != nil else { continue }
            let all = TableQuery(table.schema.name).filter(.column("id").isIn(ids.map(\.value)))
            var own = all
            let owners = writes.compactMap { $0.owner }
            if let column = owners.first?.column {
                own = own.filter(.column(column).isIn(owners.map { .string($0.userID) }))
            }
            try writer.scan(own) { row in
                var packed = PackedRows(shape: row.shape)
                try packed.append(copying: row)
                keep(WholeRow(packed), Key(row.id, in: table))
                return byteCount < Self.maximumByteCount ? .next : .stop
            }
            // Rows that are not kept are read when a write needs them.
            guard byteCount < Self.maximumByteCount else { return }
            guard owners.isEmpty else {
                try readTaken(all, of: table, ids)
                continue
            }
            for id in ids where rows[Key(id, in: table)] == nil { rows[Key(id, in: table)] = .some(nil) }
        }
    }

    /// Finds out which rows exist, without reading them.
    private func readTaken(_ query: TableQuery, of table: ServedTable, _ ids: [RowID]) throws {
        for id in ids { isTaken[Key(id, in: table)] = false }
        var query = query
        query.selection = ["id"]
        try writer.scan(query) { row in
            isTaken[Key(row.id, in: table)] = true
            return .next
        }
    }

    private func keep(_ row: WholeRow, _ key: Key) {
        rows[key] = row
        byteCount += row.packed.byteCount
    }

    /// Calls `body` with a row as the transaction sees it, or returns `nil` if it does not exist for the caller.
    func withRow<T>(
        _ id: RowID, in table: ServedTable, _ access: TableAccess, _ body: (borrowing RowView) throws -> T
    ) throws -> T? {
        let key = Key(id, in: table)
        guard let known = rows[key] else {
            return isTaken[key] == false ? nil : try access.withRow(id, in: table, writer, body)
        }
        let result: T?? = try known?.packed.withRow(at: 0) { row in access.includes(row) ? try body(row) : nil }
        return result ?? nil
    }

    /// Returns whether a row exists, also for others.
    func hasRow(_ id: RowID, in table: ServedTable, _ access: TableAccess) throws -> Bool {
        let key = Key(id, in: table)
        if let known = rows[key] { return known != nil }
        if let isTaken = isTaken[key] { return isTaken }
        guard access.owner != nil else {
            return try writer.withRow(in: table.schema.name, id: id) { _ in true } ?? false
        }
        try readTaken(TableQuery(table.schema.name).filter(.column("id") == .literal(id.value)), of: table, [id])
        return isTaken[key] ?? false
    }

    // MARK: Writing

    /// Returns the timestamp for a row: the current time, but always later than the last timestamp of the table,
    /// whichever service made it.
    ///
    /// Pulls by `updatedAt` rely on this order. The clock of a table is read and set in the transaction that writes the
    /// rows, and transactions run one after the other, so the order of timestamps is the order of commits.
    func nextStamp(for table: String) throws -> Timestamp {
        let time = options.clock()
        var stamp = time
        let previous =
            try clocks[table] ?? records[table]?.clock
            ?? ServedTableRecord.greatestTimestamp(of: table, in: writer)
        if let previous, stamp <= previous { stamp = try ServedTableRecord.stamp(after: previous, in: table) }
        clocks[table] = stamp
        // Rows with the same timestamp are still different commits for the change signal, which compares the clock.
        return options.behavior.stamp?(time) ?? stamp
    }

    /// Merges a row with its timestamp and version into the stored one, or inserts it.
    ///
    /// - Parameter body: Receives the whole row.
    func upsert<T>(
        _ change: Row, version: String, stamp: Timestamp, into table: ServedTable,
        _ body: (borrowing RowView) throws -> T
    ) throws -> T {
        let (name, id) = (table.schema.name, change.id ?? .string(change.idText))
        changes += 1
        lastRow = (name, id, version, stamp)
        var change = change
        change["updatedAt"] = .timestamp(stamp)
        change["version"] = .string(version)
        guard isForSeveral else {
            try writer.upsert(change, into: name)
            guard let result = try writer.withRow(in: name, id: id, body) else {
                throw StoreError(.corrupt, "a row that was just written is missing", table: name)
            }
            return result
        }
        let known = rows[Key(id, in: table)].map { $0?.packed.withRow(at: 0) { $0.owned() } }
        let row = try (known ?? storedRow(id, in: table))?.merging(change) ?? change
        var packed = PackedRows(shape: table.parser.shape)
        try packed.append(completing: row)
        let result = try packed.withRow(at: 0, body)
        let whole = WholeRow(packed)
        keep(whole, Key(id, in: table))
        unwritten[name, default: []].append(whole)
        if byteCount >= Self.maximumByteCount {
            try writeRows()
            (rows, isTaken, byteCount) = ([:], [:], 0)
        }
        return result
    }

    private func storedRow(_ id: RowID, in table: ServedTable) throws -> Row? {
        guard isTaken[Key(id, in: table)] != false else { return nil }
        return try writer.withRow(in: table.schema.name, id: id) { $0.owned() }
    }

    /// Deletes a row without leaving a tombstone. The clock of the table advances, so that the change is signaled.
    func delete(_ id: RowID, from table: ServedTable) throws {
        _ = try nextStamp(for: table.schema.name)
        changes += 1
        try writeRows()
        try writer.delete(ids: [id], from: table.schema.name)
        rows[Key(id, in: table)] = .some(nil)
    }

    private func writeRows() throws {
        for (table, rows) in unwritten {
            var batch = PackedRows(shape: rows[0].packed.shape)
            for row in rows { try row.packed.withRow(at: 0) { try batch.append(copying: $0) } }
            try writer.upsert(batch, into: table)
        }
        unwritten = [:]
    }

    /// The last timestamps of the tables that are changed.
    var tableClocks: TableClocks { TableClocks(clocks) }

    /// Writes the rows, and the clocks of their tables.
    func finish() throws {
        try writeRows()
        for (table, stamp) in clocks { try ServedTableRecord.setClock(of: table, to: stamp, in: writer) }
    }
}
