internal import Foundation
internal import TidelineStore

/// The error records as they lie in the system table: one for each operation that failed last, under its number.
struct ErrorStore: Sendable {
    let tables: SystemTables

    /// What is kept beside the columns, as JSON.
    private struct Properties: Codable {
        var itemID: String
        var revision: Int64
        var code: String
        var status: Int?
        var message: String
        var item: String?
        var serverItem: String?
    }

    func save(_ record: OperationErrorRecord, codec: RowCodec, in writer: some StoreWriter) throws {
        let properties = Properties(
            itemID: record.itemID, revision: record.revision, code: record.failure.code.rawValue,
            status: record.failure.status, message: record.failure.message, item: record.item.map(codec.json),
            serverItem: record.failure.serverItem.map(codec.json))
        let row: Row = [
            "id": .string(String(record.operationID)), "operationId": .int(record.operationID),
            "tableKind": .int(record.kind.rawValue), "table": .string(record.table),
            "properties": .json(String(decoding: try JSONEncoder().encode(properties), as: UTF8.self)),
        ]
        try writer.upsert(row, into: tables.errors)
    }

    /// The records of all operations, in the order of these.
    func all(in reader: some StoreReader) throws -> [OperationErrorRecord] {
        let rows = try reader.rows(matching: Query(tables.errors).order(by: "operationId")).rows
        return try rows.map { try record(from: $0, in: reader) }
    }

    private func record(from row: Row, in reader: some StoreReader) throws -> OperationErrorRecord {
        guard let id = row["operationId"]?.int, let table = row["table"]?.string,
            let kind = row["tableKind"]?.int.flatMap({ OperationKind(rawValue: $0) }),
            let json = row["properties"]?.json
        else { throw StoreError(.corrupt, "an error record is damaged", table: tables.errors, id: row.id) }
        let properties = try JSONDecoder().decode(Properties.self, from: Data(json.utf8))
        let codec = RowCodec(schema: try reader.schema(of: table))
        let failure = OperationFailure(
            .init(rawValue: properties.code), properties.message, status: properties.status,
            serverItem: try properties.serverItem.map(codec.row))
        return OperationErrorRecord(
            operationID: id, table: table, itemID: properties.itemID, kind: kind, revision: properties.revision,
            failure: failure, item: try properties.item.map(codec.row))
    }
}
