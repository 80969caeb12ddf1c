internal import CSQLite
internal import TidelineStore

/// Upserts the rows of a batch that do not name every column of the table, that name them in a different order, or that
/// have an invalid value: finds the statement for the columns that a row names, checks the row, binds it and runs the
/// statement.
struct PartialUpsert {
    private let connection: Connection
    private let statements: TableStatements
    private let table: StoredTable
    private let shape: RowShape
    /// Whether the batch has the table's columns in the table's order.
    private let isWhole: Bool
    /// For each column of the batch, the column of the table; `nil` if the table does not have it.
    private let columns: [ColumnSchema?]
    /// A column that every new row must name and that the batch does not have.
    private let missing: String?
    /// The statements for a batch with other columns than the table's; those for the table's own columns are kept with
    /// the table.
    private var variants: [KeptUpsert] = []
    /// For each column, whether the current row names it.
    private var named: [Bool]
    private var last: (variant: KeptUpsert, statement: Statement)?

    /// The maximum number of sets of named columns whose statements are kept; the statements of others are looked up by
    /// text.
    private static let maximumVariants = 32

    init(
        into table: StoredTable, of shape: RowShape, isWhole: Bool, _ statements: TableStatements,
        on connection: Connection
    ) {
        self.connection = connection
        self.statements = statements
        self.table = table
        self.shape = shape
        self.isWhole = isWhole
        if isWhole {
            columns = table.everyColumn
            missing = nil
        } else {
            columns = shape.columns.map { column in table.shape.index(of: column.name).map { table.shape.columns[$0] } }
            missing = table.shape.columns.first { !$0.isOptional && shape.index(of: $0.name) == nil }?.name
        }
        named = Array(repeating: false, count: shape.count)
    }

    /// Returns the statements to their caches and clears the bound values.
    mutating func finish() {
        letGoOfLast()
        for variant in variants { variant.statement.leave(to: connection.statements) }
        variants = []
    }

    // MARK: Rows

    mutating func run(_ row: borrowing RowView) throws(StoreError) {
        try check(row)
        let (variant, statement) = try variantForNamedColumns()
        try bind(row, to: statement)
        try statement.run(for: row, in: table)
        guard let missing = variant.missing, connection.changes == 0 else { return }
        throw invalid("a new row must name this column", missing, row)
    }

    /// Checks the values, and records which columns are named.
    private mutating func check(_ row: borrowing RowView) throws(StoreError) {
        for index in 0..<shape.count {
            let tag = row.tag(at: index)
            named[index] = tag != .absent
            if tag == .absent { continue }
            guard let column = columns[index] else {
                throw invalid("the table does not define this column", shape.columns[index].name, row)
            }
            guard tag.fits(column.type) else {
                throw invalid("the value does not fit a column of type \(column.type.rawValue)", column.name, row)
            }
            if tag == .null, !column.isOptional { throw invalid("the column must not be null", column.name, row) }
            if row.double(at: index)?.isNaN == true { throw invalid("SQLite does not store NaN", column.name, row) }
        }
    }

    private func bind(_ row: borrowing RowView, to statement: Statement) throws(StoreError) {
        let handle = statement.handle
        var result = handle.bindID(row.packedID, shape.idType)
        guard result == SQLITE_OK else { throw refused(statement, result, "id", row) }
        var parameter: Int32 = 1
        for index in 0..<shape.count where named[index] {
            parameter += 1
            result = handle.bind(row.tag(at: index), row.bytes(at: index), to: parameter)
            guard result == SQLITE_OK else { throw refused(statement, result, shape.columns[index].name, row) }
        }
    }

    // MARK: Statements

    private mutating func variantForNamedColumns() throws(StoreError) -> (KeptUpsert, Statement) {
        if let last, last.variant.named == named { return last }
        letGoOfLast()
        let variant = knownVariant() ?? makeVariant()
        let new = (variant, try variant.statement.take(from: connection.statements))
        last = new
        return new
    }

    private mutating func letGoOfLast() {
        guard let last else { return }
        self.last = nil
        sqlite3_clear_bindings(last.statement.handle)
        if isWhole || variants.contains(where: { $0 === last.variant }) {
            last.variant.statement.putBack(last.statement, to: connection.statements)
        } else {
            connection.statements.putBack(last.statement)
        }
    }

    private func knownVariant() -> KeptUpsert? {
        isWhole ? statements.upsert(naming: named) : variants.first { $0.named == named }
    }

    private mutating func makeVariant() -> KeptUpsert {
        let absent = zip(columns, named).first { column, isNamed in column?.isOptional == false && !isNamed }
        let missing = missing ?? absent?.0?.name
        let variant = KeptUpsert(named: named, sql: sql(missing: missing), missing: missing)
        if isWhole {
            statements.keep(variant, evictingTo: connection.statements)
        } else if variants.count < Self.maximumVariants {
            variants.append(variant)
        }
        return variant
    }

    private func sql(missing: String?) -> String {
        let names = zip(columns, named).compactMap { column, isNamed in isNamed ? column?.name.sqlName : nil }
        return missing == nil ? table.upsert(names) : table.update(names)
    }

    // MARK: Errors

    private func invalid(_ message: String, _ column: String, _ row: borrowing RowView) -> StoreError {
        StoreError(.invalidValue, message, table: table.name, column: column, id: row.idText)
    }

    private func refused(
        _ statement: Statement, _ result: Int32, _ column: String, _ row: borrowing RowView
    ) -> StoreError {
        var error = statement.failure(result).naming(row, in: table)
        error.column = column
        return error
    }
}
