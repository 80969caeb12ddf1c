internal import Foundation
internal import TidelineStore

/// Reads and writes pull tokens in the config table.
struct TokenStore: Sendable {
    let tables: SystemTables
    let makeID: @Sendable () -> String

    /// The key type of a token in the config table. The operation counter has a different key type.
    private static let keyType: Int64 = 1

    func token(table: String, queryID: String, in reader: some StoreReader) throws -> PullToken? {
        try Self.token(in: row(table: table, queryID: queryID, in: reader))
    }

    /// Replaces the expected token with another; `nil` removes it.
    ///
    /// - Returns: Whether the stored token was the expected one. If not, nothing is written.
    func replace(
        _ expected: PullToken?, with token: PullToken?, table: String, queryID: String, in writer: some StoreWriter
    ) throws -> Bool {
        let existing = try row(table: table, queryID: queryID, in: writer)
        guard try Self.token(in: existing) == expected else { return false }
        guard token != expected else { return true }
        guard let token else {
            try remove(table: table, queryID: queryID, in: writer)
            return true
        }
        var row: Row = [
            "table": .string(table), "key": .string(queryID), "keyType": .int(Self.keyType),
            "value": .string(String(decoding: try JSONEncoder().encode(token), as: UTF8.self)),
        ]
        row.id = existing?.id ?? makeID()
        try writer.upsert(row, into: tables.config)
        return true
    }

    func remove(table: String, queryID: String? = nil, in writer: some StoreWriter) throws {
        try writer.delete(matching: query(table: table, queryID: queryID))
    }

    func removeAll(in writer: some StoreWriter) throws {
        try writer.delete(matching: Query(tables.config).filter(.column("keyType") == .value(Self.keyType)))
    }

    private static func token(in row: Row?) throws -> PullToken? {
        guard let value = row?["value"]?.string else { return nil }
        // Create the data from an array. For other sequences, `Data` checks at run time whether they are contiguous,
        // which takes longer.
        return try JSONDecoder().decode(PullToken.self, from: Data(Array(value.utf8)))
    }

    private func row(table: String, queryID: String, in reader: some StoreReader) throws -> Row? {
        try reader.rows(matching: query(table: table, queryID: queryID).limit(1)).rows.first
    }

    private func query(table: String, queryID: String?) -> Query {
        let ofTable = Query(tables.config)
            .filter(.column("table") == .value(table) && .column("keyType") == .value(Self.keyType))
        return queryID.map { ofTable.filter(.column("key") == .value($0)) } ?? ofTable
    }
}
