internal import Foundation
internal import GRDB
internal import TidelineBenchmark
internal import TidelineStore

/// A plain row; timestamps are integers.
struct RawItem: Sendable {
    var id: String
    var text: String?
    var list: String?
    var rank: Int64?
    var done: Bool?
    var score: Double?
    var due: Int64?
    var note: String?
    var owner: String?
    var updatedAt: Int64?
    var version: String?
}

extension RawItem {
    init(_ row: GRDB.Row) {
        self.init(
            id: row[0], text: row[1], list: row[2], rank: row[3], done: row[4], score: row[5], due: row[6],
            note: row[7], owner: row[8], updatedAt: row[9], version: row[10])
    }

    /// See ``RowChecksum``.
    fileprivate var number: UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: id))
        RowChecksum.mix(&number, RowChecksum.value(of: text))
        RowChecksum.mix(&number, RowChecksum.value(of: list))
        RowChecksum.mix(&number, RowChecksum.value(of: rank))
        RowChecksum.mix(&number, RowChecksum.value(of: done))
        RowChecksum.mix(&number, score?.bitPattern ?? RowChecksum.null)
        RowChecksum.mix(&number, RowChecksum.value(of: due))
        RowChecksum.mix(&number, RowChecksum.value(of: note))
        RowChecksum.mix(&number, RowChecksum.value(of: owner))
        RowChecksum.mix(&number, RowChecksum.value(of: updatedAt))
        RowChecksum.mix(&number, RowChecksum.value(of: version))
        return number
    }
}

/// Uses SQL, cached statements and cursors, as GRDB's documentation recommends for speed.
enum RawStyle: GRDBStyle {
    static var instant: Database.ColumnType { .integer }

    static func item(_ row: borrowing RowView) -> RawItem {
        RawItem(
            id: row.idText, text: row.string(at: 0), list: row.string(at: 1), rank: row.int(at: 2),
            done: row.bool(at: 3), score: row.double(at: 4), due: row.timestamp(at: 5)?.ticks, note: row.string(at: 6),
            owner: row.string(at: 7), updatedAt: row.timestamp(at: 8)?.ticks, version: row.string(at: 9))
    }

    static func upsert(_ items: [RawItem], _ db: Database) throws {
        let statement = try db.cachedStatement(sql: upsert)
        for item in items {
            try statement.execute(arguments: [
                item.id, item.text, item.list, item.rank, item.done, item.score, item.due, item.note, item.owner,
                item.updatedAt, item.version,
            ])
        }
    }

    static func get(_ id: String, _ access: Work.Access, _ db: Database) throws -> UInt64? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM items WHERE id = ?")
        let rows = try Row.fetchCursor(statement, arguments: [id])
        // A row is valid as long as its cursor.
        return try withExtendedLifetime(rows) { try rows.next().map { try number($0, access) } }
    }

    static func scan(_ access: Work.Access, _ db: Database) throws -> Answer {
        try sum(Row.fetchCursor(try db.cachedStatement(sql: "SELECT * FROM items ORDER BY id")), access)
    }

    static func find(_ filter: RowFilter, limit: Int, _ db: Database) throws -> Answer {
        let statement = try db.cachedStatement(sql: "SELECT * FROM items WHERE list = ? ORDER BY rank LIMIT ?")
        return try sum(Row.fetchCursor(statement, arguments: [filter.list, limit]), .view)
    }

    static func items(_ request: LiveRequest, _ db: Database) throws -> [RawItem] {
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: request.sql), arguments: request.arguments)
        var items: [RawItem] = []
        while let row = try rows.next() { items.append(RawItem(row)) }
        return items
    }

    static func count(_ filter: RowFilter, _ db: Database) throws -> Int {
        let statement = try db.cachedStatement(sql: "SELECT COUNT(*) FROM items WHERE list = ?")
        return try Int.fetchOne(statement, arguments: [filter.list]) ?? 0
    }

    static func delete(_ ids: [String], _ db: Database) throws -> Int {
        let statement = try db.cachedStatement(sql: "DELETE FROM items WHERE id = ?")
        return try ids.reduce(0) { count, id in
            try statement.execute(arguments: [id])
            return count + db.changesCount
        }
    }

    static func delete(matching filter: RowFilter, _ db: Database) throws -> Int {
        try db.cachedStatement(sql: "DELETE FROM items WHERE list = ?").execute(arguments: [filter.list])
        return db.changesCount
    }

    private static let names = [
        "id", "text", "list", "rank", "done", "score", "due", "note", "owner", "updatedAt", "version",
    ]
    private static let upsert = """
        INSERT INTO items (\(names.joined(separator: ", ")))
        VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (id) DO UPDATE SET \(names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    private static func sum(_ rows: RowCursor, _ access: Work.Access) throws -> Answer {
        var answer = Answer()
        while let row = try rows.next() { answer.add(try number(row, access)) }
        return answer
    }

    /// The row number, from values in place, by column index, from an item, or by column name.
    private static func number(_ row: GRDB.Row, _ access: Work.Access) throws -> UInt64 {
        if access == .record { return RawItem(row).number }
        var number = RowChecksum.start
        for position in names.indices {
            RowChecksum.mix(&number, try access == .view ? value(viewing: row, position) : value(row, position, access))
        }
        return number
    }

    private static func value(viewing row: GRDB.Row, _ position: Int) throws -> UInt64 {
        guard isText(position) else { return value(row, position, .typed) }
        return try row.withUnsafeData(atIndex: position) { data in
            data?.withUnsafeBytes { RowChecksum.value(of: $0) } ?? RowChecksum.null
        }
    }

    private static func value(_ row: GRDB.Row, _ position: Int, _ access: Work.Access) -> UInt64 {
        func get<T: DatabaseValueConvertible & StatementColumnConvertible>() -> T? {
            access == .row ? row[names[position]] : row[position]
        }
        switch position {
        case 3, 6, 9: return RowChecksum.value(of: get() as Int64?)
        case 4: return RowChecksum.value(of: get() as Bool?)
        case 5: return (get() as Double?)?.bitPattern ?? RowChecksum.null
        default: return RowChecksum.value(of: get() as String?)
        }
    }

    private static func isText(_ position: Int) -> Bool { [0, 1, 2, 7, 8, 10].contains(position) }
}
