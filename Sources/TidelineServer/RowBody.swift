internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The row in the body of an insert or update. It is parsed twice: first without a schema, to find the columns that it
/// names, then with the types of the table.
struct RowBody {
    private let bytes: [UInt8]
    private let loose: Row

    /// - Parameter ignoresSystemColumns: Whether columns that only the service can set are ignored instead of being an
    ///   error, as by servers that accept a whole row.
    /// - Throws: `WireError` for a body that is not a row; ``RequestRejection`` for one that names a column that only
    ///   the service can set.
    init(_ bytes: [UInt8], ignoresSystemColumns: Bool = false) throws {
        self.bytes = bytes
        loose = try bytes.withUnsafeBytes { try JSONRow.parse($0) }
        for name in loose.columnNames where name != "version" {
            let isIgnored = ignoresSystemColumns && SystemColumns.all.columns.contains { $0.name == name }
            guard isIgnored || !SystemColumns.names.contains(name) && !name.hasPrefix("__") else {
                throw RequestRejection(.badRequest, "a body must not name the column \(name.debugDescription)")
            }
        }
    }

    /// The id; empty if the body has none.
    var id: String { loose.idText }

    /// The version on which the change is based, if the body contains it.
    var version: String? { loose["version"]?.string }

    /// Whether the body marks the row as deleted.
    var isDeleted: Bool { loose["deleted"]?.bool == true }

    /// The app's columns.
    var columns: [(name: String, value: Value)] { loose.values.filter { !SystemColumns.names.contains($0.name) } }

    /// Returns the row with the column types of the table, without system columns.
    func typed(by table: ServedTable) throws -> Row {
        let row = try bytes.withUnsafeBytes { try table.parser.parseRow($0, requireID: false) }
        return row.filteringColumns { !SystemColumns.names.contains($0) }
    }
}
