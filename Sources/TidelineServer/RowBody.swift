internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The row in the body of an insert or update, read twice: once as its JSON shows, to know which columns it names, then
/// typed by the table.
struct RowBody {
    private let bytes: [UInt8]
    private let loose: Row

    /// - Throws: `WireError` for a body that is no row; ``RequestRejection`` for one that names a column which only the
    ///   service makes.
    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        loose = try bytes.withUnsafeBytes { try JSONRow.parse($0) }
        for name in loose.columnNames where name != "version" {
            guard !SystemColumns.names.contains(name), !name.hasPrefix("__") else {
                throw RequestRejection(.badRequest, "a body must not name the column \(name.debugDescription)")
            }
        }
    }

    /// The id, empty when there is none.
    var id: String { loose.id }

    /// The version that the row was changed on, if the body says so.
    var version: String? { loose["version"]?.string }

    /// The app's columns.
    var columns: [(name: String, value: Value)] { loose.values.filter { $0.name != "version" } }

    /// The row as the table types it, without its version.
    func typed(by table: ServedTable) throws -> Row {
        var row = try bytes.withUnsafeBytes { try table.parser.parseRow($0, requireID: false) }
        row["version"] = nil
        return row
    }
}
