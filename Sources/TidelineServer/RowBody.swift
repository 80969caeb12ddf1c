internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The row in the body of an insert or update. It is parsed twice: first without a schema, to find the columns that it
/// names, then with the types of the table.
struct RowBody {
    private let bytes: [UInt8]
    private var loose: Row
    /// The owner that the service sets.
    private var owner: (column: String, userID: String)?

    /// - Parameter ignoresSystemColumns: Whether columns that only the service can set are ignored instead of being an
    ///   error, as by servers that accept a whole row.
    /// - Throws: `WireError` for a body that is not a row; ``RequestRejection`` for one that names a column that only
    ///   the service can set.
    init(_ bytes: [UInt8], ignoresSystemColumns: Bool = false) throws {
        self.bytes = bytes
        loose = try bytes.withUnsafeBytes { try JSONRow.parse($0, keepsNotation: true, checksText: true) }
        for name in loose.columnNames where name != "version" {
            let isIgnored = ignoresSystemColumns && SystemColumns.all.columns.contains { $0.name == name }
            guard isIgnored || !SystemColumns.names.contains(name) && !name.isReserved else {
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

    /// Sets the owner of the row to the caller, if the rows of the table have owners.
    ///
    /// - Parameter isWholeRow: Whether the body is a whole row. Otherwise the column is set only if the body names it.
    /// - Throws: ``RequestRejection`` with 403 if the body names another owner.
    mutating func setOwner(_ access: TableAccess, isWholeRow: Bool) throws {
        guard let owner = access.owner else { return }
        let named = loose[owner.column]
        switch named {
        case nil: guard isWholeRow else { return }
        case .null?: break
        case let userID? where userID == .string(owner.userID): break
        default:
            throw RequestRejection(
                .forbidden,
                "table \(access.table.debugDescription), column \(owner.column.debugDescription): the row would belong to"
                    + " another user; omit the column, which the server sets to the user who signed in")
        }
        loose[owner.column] = .string(owner.userID)
        self.owner = owner
    }

    /// Returns the row with the column types of the table, without system columns.
    func typed(by table: ServedTable) throws -> Row {
        var row = try bytes.withUnsafeBytes { try table.parser.parseRow($0, requireID: false) }
        row = row.filteringColumns { !SystemColumns.names.contains($0) }
        // Not as parsed: the owner must be the caller even if the two parsers read a body differently.
        if let owner { row[owner.column] = .string(owner.userID) }
        return row
    }
}
