public import TidelineStore

/// The record of a conflict that a policy resolved; see ``SyncClient/decisions(table:id:)``.
public struct ConflictDecision: Sendable, Hashable, Identifiable {
    /// The number of the decision. Numbers increase and are never reused.
    public let id: Int64
    /// The table of the row.
    public let table: String
    /// The identifier of the row.
    public let itemID: String
    /// The time of the decision.
    public let time: Timestamp
    /// The policy, with the rules that decided about columns, such as `merge (rank: sum)`.
    public let rule: String
    /// The common ancestor of the two rows, or `nil` if there is none or it is not known.
    public let base: Row?
    /// The local row, or `nil` if it was deleted.
    public let local: Row?
    /// The server row, or `nil` if it was deleted.
    public let server: Row?
    /// The row as decided, or `nil` if it was deleted.
    public let result: Row?

    /// A side of a conflict.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        case base, local, server
    }

    /// Returns the row of a side, or `nil` if it was deleted or is not known.
    public func row(_ version: Version) -> Row? {
        switch version {
        case .base: base
        case .local: local
        case .server: server
        }
    }
}

/// Reads and writes the records of decisions in the system table.
struct DecisionStore: Sendable {
    let tables: SystemTables
    /// The greatest number of records, beyond which the oldest are removed.
    let maximumCount: Int

    /// Adds a record with a new number, and removes the oldest records beyond the maximum.
    func add(
        _ id: Int64, _ conflict: RowConflict, rule: String, result: Row?, time: Timestamp, in writer: some StoreWriter
    ) throws {
        let row = Row(
            id: .int(id),
            distinctColumns: [
                ("table", .string(conflict.table)), ("itemId", .string(conflict.id)), ("time", .timestamp(time)),
                ("rule", .string(rule)), ("base", Self.json(conflict.base)), ("local", Self.json(conflict.local)),
                ("server", Self.json(conflict.server)), ("result", Self.json(result)),
            ])
        try writer.upsert(row, into: tables.decisions)
        let excess = try writer.count(TableQuery(tables.decisions)) - maximumCount
        guard excess > 0 else { return }
        let oldest = try writer.rows(matching: TableQuery(tables.decisions).order(by: "id").limit(excess)).rows
        try writer.delete(ids: oldest.compactMap(\.id), from: tables.decisions)
    }

    private static func json(_ row: Row?) -> Value { row.map { .json($0.json) } ?? .null }

    /// Returns the records, newest first.
    func decisions(table: String?, itemID: String?, in reader: some StoreReader) throws -> [ConflictDecision] {
        var query = TableQuery(tables.decisions).order(by: "id", descending: true)
        if let table { query = query.filter(.column("table") == .value(table)) }
        let decisions = try reader.rows(matching: query).rows.map { try decision(from: $0, in: reader) }
        guard let itemID else { return decisions }
        return try decisions.filter { decision in
            let schema = try reader.schemaIfDefined(of: decision.table)
            let (a, b) = (schema?.itemKey(decision.itemID), schema?.itemKey(itemID))
            return RowID.string(a ?? decision.itemID) == .string(b ?? itemID)
        }
    }

    /// Returns whether a decision is still recorded: nothing has removed it since it was read.
    func contains(_ decision: ConflictDecision, in reader: some StoreReader) throws -> Bool {
        guard let row = try reader.row(in: tables.decisions, id: .int(decision.id)) else { return false }
        return row["table"]?.string == decision.table
            && row["itemId"] == .string(decision.itemID)
            && row["time"]?.timestamp == decision.time
    }

    private func decision(from row: Row, in reader: some StoreReader) throws -> ConflictDecision {
        guard case .int(let id)? = row.id, let table = row["table"]?.string, let itemID = row["itemId"]?.string,
            let time = row["time"]?.timestamp, let rule = row["rule"]?.string
        else {
            throw StoreError(.corrupt, "the record of a decision is damaged", table: tables.decisions, id: row.idText)
        }
        let codec = try reader.schemaIfDefined(of: table).map(RowCodec.init)
        func side(_ name: String) throws -> Row? {
            guard let json = row[name]?.json else { return nil }
            var row = try codec?.row(json) ?? RowCodec.looseRow(json)
            row.id = .string(itemID)
            return row
        }
        return ConflictDecision(
            id: id, table: table, itemID: itemID, time: time, rule: rule, base: try side("base"),
            local: try side("local"), server: try side("server"), result: try side("result"))
    }
}
