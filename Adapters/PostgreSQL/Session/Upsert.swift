internal import TidelineStore

/// An upsert of one batch: rows that name the same columns and have different ids are written by one statement.
struct Upsert {
    private let connection: Connection
    private let table: StoredTable
    private let shape: RowShape
    /// For each column of the batch, the column of the table; `nil` if the table does not have it.
    private let columns: [StoredColumn?]
    /// For each column of the batch, whether the rows of the group name it.
    private var named: [Bool] = []
    /// A column that every new row must name and that the rows of the group do not name.
    private var missing: String?
    /// The rows of the group: their keys, their ids if these differ, and their values.
    private var keys: ArrayParameter
    private var ids: ArrayParameter
    private var values: [ArrayParameter?]
    private var known: Set<[UInt8]> = []
    private var byteCount = 0

    private static let maximumRows = 1_000
    private static let maximumBytes = 8 << 20
    /// The server accepts messages of about 1 GB, and a text of control characters is stored in twice its length.
    private static let maximumRowBytes = 500_000_000

    init(into table: StoredTable, of shape: RowShape, on connection: Connection) throws(StoreError) {
        guard shape.idType == table.schema.idType else { throw .wrongIDType(in: table.schema) }
        self.table = table
        self.shape = shape
        self.connection = connection
        columns = shape.columns.map { column in table.shape.index(of: column.name).map { table.columns[$0] } }
        keys = ArrayParameter(SQLType(shape.idType))
        ids = keys
        values = columns.map { column in column.map { ArrayParameter($0.type) } }
    }

    /// Upserts all rows, in their order.
    mutating func run(_ rows: borrowing PackedRows) throws {
        // A closure cannot capture the struct while it is changed.
        for position in 0..<rows.count { try rows.withRow(at: position) { try add($0) } }
        try flush()
    }

    private mutating func add(_ row: borrowing RowView) throws(StoreError) {
        let named = try check(row)
        var key = Array(row.packedID)
        if table.schema.foldsID { for index in key.indices where key[index] &- 0x41 < 26 { key[index] |= 0x20 } }
        let isFull = keys.count == Self.maximumRows || byteCount >= Self.maximumBytes
        if isFull || named != self.named || known.contains(key) { try flush() }
        if named != self.named || known.isEmpty {
            self.named = named
            missing = missing(named)
        }
        key.withUnsafeBytes { keys.append(shape.idType == .int ? .int : .string, $0) }
        if table.schema.foldsID { ids.append(.string, row.packedID) }
        byteCount += 2 * key.count
        for index in 0..<shape.count where named[index] {
            let bytes = row.bytes(at: index)
            values[index]?.append(row.tag(at: index), bytes)
            byteCount += bytes.count + 8
        }
        known.insert(key)
        guard let missing else { return }
        // Only an existing row can be changed, and the error names the row.
        guard try flush() == 0 else { return }
        throw invalid("a new row must name this column", missing, row)
    }

    /// Checks the id and the values, and returns which columns are named.
    private func check(_ row: borrowing RowView) throws(StoreError) -> [Bool] {
        guard row.hasUsableID else {
            throw invalid("an id must have 1 to 255 characters", "id", row)
        }
        guard row.packed.count <= Self.maximumRowBytes else {
            throw StoreError(
                .invalidValue, "a row has at most \(Self.maximumRowBytes) bytes", table: table.name, id: row.idText)
        }
        var named = Array(repeating: false, count: shape.count)
        for index in 0..<shape.count {
            let tag = row.tag(at: index)
            if tag == .absent { continue }
            named[index] = true
            guard let column = columns[index]?.schema else {
                throw invalid("the table does not define this column", shape.columns[index].name, row)
            }
            guard tag.fits(column.type) else {
                throw invalid("the value does not fit a column of type \(column.type.rawValue)", column.name, row)
            }
            if tag == .null, !column.isOptional { throw invalid("the column must not be null", column.name, row) }
            if row.double(at: index)?.isNaN == true {
                throw invalid("the store does not support NaN", column.name, row)
            }
        }
        return named
    }

    /// Returns a column that every new row must name and that rows with these columns do not name.
    private func missing(_ named: [Bool]) -> String? {
        table.shape.columns.first { column in
            !column.isOptional && !(shape.index(of: column.name).map { named[$0] } ?? false)
        }?.name
    }

    private func invalid(_ message: String, _ column: String, _ row: borrowing RowView) -> StoreError {
        StoreError(.invalidValue, message, table: table.name, column: column, id: row.idText)
    }

    // MARK: Statements

    /// Writes the rows of the group and returns how many of them exist, if new ones are not possible.
    @discardableResult
    private mutating func flush() throws(StoreError) -> Int {
        guard keys.count > 0 else { return 0 }
        var parameters = Parameters()
        parameters.append(keys)
        if table.schema.foldsID { parameters.append(ids) }
        for index in values.indices where named[index] {
            if let array = values[index] { parameters.append(array) }
        }
        let columns = zip(self.columns, named).compactMap { column, isNamed in isNamed ? column : nil }
        var changes = 0
        if missing == nil {
            try connection.runLater(table.upsert(columns), parameters, table: table.name)
        } else {
            changes = try connection.run(table.update(columns), parameters).changes
        }
        keys = ArrayParameter(keys.type)
        ids = keys
        values = values.map { array in array.map { ArrayParameter($0.type) } }
        known.removeAll(keepingCapacity: true)
        byteCount = 0
        return changes
    }
}

extension StoredTable {
    /// Returns a statement that inserts rows with these columns, or updates the existing ones. Its parameters are an
    /// array for the keys, one for the ids if these differ, and one for each column.
    func upsert(_ columns: [StoredColumn]) -> String {
        let assignments = assignments(columns)
        let list = (keyColumns + assignments.map(\.column)).joined(separator: ", ")
        let values = (keyColumns.indices.map { "\"new\".\"k\($0)\"" } + assignments.map(\.value)).joined(
            separator: ", ")
        let changes = assignments.map { "\($0.column) = excluded.\($0.column)" }.joined(separator: ", ")
        let action = changes.isEmpty ? "NOTHING" : "UPDATE SET \(changes)"
        // The alias is for a table with the name "excluded".
        let insertion = "INSERT INTO \(sqlName) AS \"old\" (\(list)) SELECT \(values) FROM \(arrays(columns))"
        return "\(insertion) ON CONFLICT (\(key)) DO \(action)"
    }

    /// Returns a statement that updates these columns of the existing rows, with the same parameters. Without columns,
    /// its number of changes still shows which rows exist.
    func update(_ columns: [StoredColumn]) -> String {
        let changes = assignments(columns).map { "\($0.column) = \($0.value)" }.joined(separator: ", ")
        let key = "\(key) = \"new\".\"k0\""
        return
            "UPDATE \(sqlName) AS \"old\" SET \(changes.isEmpty ? key : changes) FROM \(arrays(columns)) WHERE \"old\".\(key)"
    }

    private var keyColumns: [String] { schema.foldsID ? [key, "\"id\""] : [key] }

    private func assignments(_ columns: [StoredColumn]) -> [(column: String, value: String)] {
        columns.indices.map { (columns[$0].sqlName, "\"new\".\"v\($0)\"") }
            + columns.indices.compactMap { index in
                columns[index].prefix.map { ($0, StoredColumn.beginning(of: "\"new\".\"v\(index)\"")) }
            }
    }

    /// The arrays of the parameters as a table, with the names `k0`, `v0`, and so on. Its own name is `new`.
    private func arrays(_ columns: [StoredColumn]) -> String {
        let names = keyColumns.indices.map { "\"k\($0)\"" } + columns.indices.map { "\"v\($0)\"" }
        let types = keyColumns.map { _ in SQLType(schema.idType) } + columns.map(\.type)
        let list = types.enumerated().map { "$\($0 + 1)::\($1.name)[]" }.joined(separator: ", ")
        return "unnest(\(list)) AS \"new\" (\(names.joined(separator: ", ")))"
    }
}
