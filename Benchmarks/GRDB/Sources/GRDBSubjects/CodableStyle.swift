internal import Foundation
internal import GRDB
internal import TidelineBenchmark
internal import TidelineStore

/// A `Codable` record, as GRDB's documentation recommends.
struct CodableItem: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "items"

    enum Columns {
        static let id = GRDB.Column(CodingKeys.id)
        static let list = GRDB.Column(CodingKeys.list)
        static let rank = GRDB.Column(CodingKeys.rank)
    }

    var id: String
    var text: String?
    var list: String?
    var rank: Int64?
    var done: Bool?
    var score: Double?
    var due: Date?
    var note: String?
    var owner: String?
    var updatedAt: Date?
    var version: String?
}

/// Uses `Codable` records and the query interface.
enum CodableStyle: GRDBStyle {
    static var instant: Database.ColumnType { .datetime }

    static func item(_ row: borrowing RowView) -> CodableItem {
        CodableItem(
            id: row.idText, text: row.string(at: 0), list: row.string(at: 1), rank: row.int(at: 2),
            done: row.bool(at: 3), score: row.double(at: 4), due: row.timestamp(at: 5)?.date, note: row.string(at: 6),
            owner: row.string(at: 7), updatedAt: row.timestamp(at: 8)?.date, version: row.string(at: 9))
    }

    static func upsert(_ items: [CodableItem], _ db: Database) throws {
        for item in items { try item.upsert(db) }
    }

    static func get(_ id: String, _ access: Work.Access, _ db: Database) throws -> UInt64? {
        try CodableItem.fetchOne(db, key: id)?.number
    }

    static func scan(_ access: Work.Access, _ db: Database) throws -> Answer {
        try sum(CodableItem.order(CodableItem.Columns.id), db)
    }

    static func find(_ filter: RowFilter, limit: Int, _ db: Database) throws -> Answer {
        try sum(request(filter).order(CodableItem.Columns.rank).limit(limit), db)
    }

    static func items(_ request: LiveRequest, _ db: Database) throws -> [CodableItem] {
        try CodableItem.fetchAll(try db.cachedStatement(sql: request.sql), arguments: request.arguments)
    }

    static func count(_ filter: RowFilter, _ db: Database) throws -> Int { try request(filter).fetchCount(db) }

    static func delete(_ ids: [String], _ db: Database) throws -> Int { try CodableItem.deleteAll(db, keys: ids) }

    static func delete(matching filter: RowFilter, _ db: Database) throws -> Int { try request(filter).deleteAll(db) }

    private static func request(_ filter: RowFilter) -> QueryInterfaceRequest<CodableItem> {
        CodableItem.filter(CodableItem.Columns.list == filter.list)
    }

    private static func sum(_ request: QueryInterfaceRequest<CodableItem>, _ db: Database) throws -> Answer {
        var answer = Answer()
        let items = try request.fetchCursor(db)
        while let item = try items.next() { answer.add(item.number) }
        return answer
    }
}

extension CodableItem {
    /// See ``RowChecksum``.
    fileprivate var number: UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: id))
        RowChecksum.mix(&number, RowChecksum.value(of: text))
        RowChecksum.mix(&number, RowChecksum.value(of: list))
        RowChecksum.mix(&number, RowChecksum.value(of: rank))
        RowChecksum.mix(&number, RowChecksum.value(of: done))
        RowChecksum.mix(&number, score?.bitPattern ?? RowChecksum.null)
        RowChecksum.mix(&number, Self.value(due))
        RowChecksum.mix(&number, RowChecksum.value(of: note))
        RowChecksum.mix(&number, RowChecksum.value(of: owner))
        RowChecksum.mix(&number, Self.value(updatedAt))
        RowChecksum.mix(&number, RowChecksum.value(of: version))
        return number
    }

    /// GRDB stores a `Date` as text, to the millisecond.
    private static func value(_ date: Date?) -> UInt64 {
        guard let date else { return RowChecksum.null }
        let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
        return RowChecksum.value(of: milliseconds * Timestamp.ticksPerMillisecond)
    }
}
