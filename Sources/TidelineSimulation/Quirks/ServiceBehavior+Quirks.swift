internal import Foundation
internal import HTTPTypes
internal import TidelineServer
internal import TidelineStore
internal import TidelineWire

extension ServiceBehavior {
    /// The behavior of a server with quirks.
    ///
    /// - Parameter makeID: Makes the identifiers for ``ServerQuirks/makesIDs``.
    init(
        _ quirks: ServerQuirks, makeID: @escaping @Sendable () -> String = { String(UInt32.random(in: 1 ... .max)) }
    ) {
        self.init()
        leavesTombstones = !quirks.contains(.hardDelete)
        request = { request in
            switch request {
            case .lookup(let table, let id, true) where quirks.contains(.hidesDeletedRows):
                return .lookup(table: table, id: id, includeDeleted: false)
            case .undelete where quirks.contains(.hardDelete):
                throw RequestRejection(.internalServerError, "SQLITE_ERROR: no such column: deleted")
            default: return request
            }
        }
        row = { row, isInsert in
            var row = quirks.contains(.roundsIntegers) ? Self.rounded(row) : row
            if isInsert, quirks.contains(.makesIDs) { row.id = .string(makeID()) }
            return row
        }
        if quirks.contains(.refusesAnyMatch) { allows = { $0 != .any && $0.allows($1) } }
        if quirks.contains(.filtersLikeSQL) { query = Self.sqlQuery }
        if quirks.contains(.answersFaultsWith500) { validate = Self.requirePlain }
        if quirks.contains(.perRowVersions) { version = Self.nextVersion }
        if quirks.contains(.millisecondStamps) { stamp = { $0.flooredToMillisecond } }
        if quirks.contains(.echoesConflictingInserts) { conflict = { TableResponse(.conflict, json: $0) } }
    }

    /// Returns the query for a page. A filter that names an unknown column matches no row.
    @Sendable private static func sqlQuery(_ read: TableRead, _ table: TableSchema) throws -> TableQuery? {
        do {
            var query = try read.query(table)
            query.predicate = query.predicate?.holds(true)
            return query
        } catch {
            guard error.column != nil else { throw error }
            return nil
        }
    }

    /// Rejects with 500 any value for which the original server has no column or no type.
    @Sendable private static func requirePlain(_ body: Body) throws {
        for (name, value) in body.columns {
            let isUnknown = body.table.map { $0.column(name) == nil } ?? false
            let isMissing = isUnknown && (!body.addsColumns || (value.isNull && !body.isInsert))
            guard value.json != nil || isMissing else { continue }
            let reason = isMissing ? "no such column: \(name)" : "the value of \(name) cannot be bound"
            throw RequestRejection(.internalServerError, "SQLITE_ERROR: \(reason)")
        }
    }

    /// Returns the row with its integers rounded as by a server that computes with doubles.
    private static func rounded(_ row: Row) -> Row {
        var row = row
        for (name, value) in row.values {
            guard let number = value.int else { continue }
            row[name] = .int(Int64(exactly: Double(number)) ?? number)
        }
        return row
    }

    @Sendable private static func nextVersion(after previous: String?) -> String {
        let count = previous.flatMap { Data(base64Encoded: $0) }.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        return Data(String((count ?? 0) + 1).utf8).base64EncodedString()
    }
}

extension RowPredicate {
    /// Returns a condition that holds exactly where this one is true, or where it is false, in SQL's three-valued
    /// logic: a comparison, membership test or function with a null operand is neither, even under `not`.
    fileprivate func holds(_ wanted: Bool) -> RowPredicate {
        switch self {
        case .and(let terms):
            let terms = terms.map { $0.holds(wanted) }
            return wanted ? .and(terms) : .or(terms)
        case .or(let terms):
            let terms = terms.map { $0.holds(wanted) }
            return wanted ? .or(terms) : .and(terms)
        case .not(let term):
            return term.holds(!wanted)
        case .comparison(_, .literal(.null), _), .comparison(_, _, .literal(.null)):
            // `eq null` and `ne null` become IS NULL and IS NOT NULL.
            return wanted ? self : .not(self)
        default:
            // The id is never null.
            let columns = columnNames.filter { $0 != "id" }
            return .and([wanted ? self : .not(self)] + columns.map { .column($0).isNotNull })
        }
    }
}
