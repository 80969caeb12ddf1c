internal import CSQLite
internal import TidelineStore

/// One upsert of a batch: finds the statement for the columns that a row names, checks the row, binds and runs.
///
/// Unsafe pointers: text and bytes are bound where they lie in the batch, which is borrowed and does not move until the
/// statements are reset at the end.
struct Upsert {
    private let connection: Connection
    private let table: StoredTable
    private let shape: RowShape
    /// Whether the batch has the table's columns in the table's order.
    private let isWhole: Bool
    /// For each column of the batch, that of the table; nil where the table has none.
    private let columns: [ColumnSchema?]
    /// Columns of the table that every new row must name and that the batch lacks altogether.
    private let missing: String?
    private var variants: [Variant] = []
    /// Which columns the current row names.
    private var named: [Bool]
    private var last: Variant?

    /// The statement for rows that name the same columns.
    private final class Variant {
        let named: [Bool]
        let statement: Statement
        /// The column that is not named and that a new row must name: the statement only updates then.
        let missing: String?

        init(named: [Bool], statement: Statement, missing: String?) {
            self.named = named
            self.statement = statement
            self.missing = missing
        }
    }

    /// Rows naming more different sets of columns than this have their statements looked up by text.
    private static let maximumVariants = 32

    init(into table: StoredTable, of shape: RowShape, on connection: Connection) throws(StoreError) {
        guard shape.idType == table.schema.idType else {
            throw StoreError(
                .invalidValue, "the ids must be of type \(table.schema.idType.rawValue)", table: table.schema.name,
                column: "id")
        }
        self.connection = connection
        self.table = table
        self.shape = shape
        isWhole = connection.hasColumns(of: table, shape)
        if isWhole {
            columns = table.everyColumn
            missing = nil
        } else {
            columns = shape.columns.map { column in table.shape.index(of: column.name).map { table.shape.columns[$0] } }
            missing = table.shape.columns.first { !$0.isOptional && shape.index(of: $0.name) == nil }?.name
        }
        named = Array(repeating: false, count: shape.count)
    }

    /// Gives the statements back; what was bound is forgotten with it.
    mutating func finish() {
        if let last, !isKept(last) { connection.putBack(last.statement) }
        for variant in variants { connection.putBack(variant.statement) }
        variants = []
        last = nil
    }

    // MARK: Rows

    mutating func run(_ row: borrowing RowView) throws(StoreError) {
        try check(row)
        let variant = try variantForNamedColumns()
        try bind(row, to: variant.statement)
        try run(variant.statement, row)
        guard let missing = variant.missing, connection.changes == 0 else { return }
        throw invalid("a new row must name this column", missing, row)
    }

    private func run(_ statement: Statement, _ row: borrowing RowView) throws(StoreError) {
        do throws(StoreError) {
            try statement.run()
        } catch {
            var error = error
            (error.table, error.id) = (table.schema.name, row.id)
            throw error
        }
    }

    /// Checks id and values, and notes which columns are named.
    private mutating func check(_ row: borrowing RowView) throws(StoreError) {
        guard row.hasUsableID else { throw invalid("an id must have 1 to 255 characters", "id", row) }
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
        }
    }

    private func bind(_ row: borrowing RowView, to statement: Statement) throws(StoreError) {
        let handle = statement.handle
        var result = row.withIDBytes { bytes in
            shape.idType == .string
                ? tideline_bind_static_text(handle, 1, bytes.baseAddress, UInt64(bytes.count))
                : sqlite3_bind_int64(handle, 1, bytes.loadUnaligned(as: Int64.self))
        }
        guard result == SQLITE_OK else { throw refused(statement, result, "id", row) }
        var parameter: Int32 = 1
        for index in 0..<shape.count where named[index] {
            parameter += 1
            let bytes = row.bytes(at: index)
            switch row.tag(at: index) {
            case .absent, .null: result = sqlite3_bind_null(handle, parameter)
            case .false: result = sqlite3_bind_int64(handle, parameter, 0)
            case .true: result = sqlite3_bind_int64(handle, parameter, 1)
            case .int, .timestamp:
                result = sqlite3_bind_int64(handle, parameter, bytes.loadUnaligned(as: Int64.self))
            case .double:
                let double = Double(bitPattern: bytes.loadUnaligned(as: UInt64.self))
                if double.isNaN { throw invalid("SQLite does not store NaN", shape.columns[index].name, row) }
                result = sqlite3_bind_double(handle, parameter, double)
            case .string, .json:
                result = tideline_bind_static_text(handle, parameter, bytes.baseAddress, UInt64(bytes.count))
            case .bytes:
                result = tideline_bind_static_blob(handle, parameter, bytes.baseAddress, UInt64(bytes.count))
            }
            guard result == SQLITE_OK else { throw refused(statement, result, shape.columns[index].name, row) }
        }
    }

    // MARK: Statements

    private mutating func variantForNamedColumns() throws(StoreError) -> Variant {
        if let last {
            if last.named == named { return last }
            if !isKept(last) { connection.putBack(last.statement) }
        }
        last = nil
        if let known = variants.first(where: { $0.named == named }) {
            last = known
            return known
        }
        let variant = try makeVariant()
        if variants.count < Self.maximumVariants { variants.append(variant) }
        last = variant
        return variant
    }

    private func isKept(_ variant: Variant) -> Bool { variants.contains { $0 === variant } }

    private func makeVariant() throws(StoreError) -> Variant {
        let absent = zip(columns, named).first { column, isNamed in column?.isOptional == false && !isNamed }
        let missing = missing ?? absent?.0?.name
        let statement = try connection.takeStatement(sql(missing: missing))
        return Variant(named: named, statement: statement, missing: missing)
    }

    private func sql(missing: String?) -> String {
        if isWhole, !named.contains(false) { return table.upsertWholeRow }
        let names = zip(shape.columns, named).filter(\.1).map { $0.0.name.sqlName }
        return missing == nil ? table.upsert(names) : table.update(names)
    }

    // MARK: Errors

    private func invalid(_ message: String, _ column: String, _ row: borrowing RowView) -> StoreError {
        StoreError(.invalidValue, message, table: table.schema.name, column: column, id: row.id)
    }

    private func refused(
        _ statement: Statement, _ result: Int32, _ column: String, _ row: borrowing RowView
    ) -> StoreError {
        var error = statement.failure(result)
        (error.table, error.column, error.id) = (table.schema.name, column, row.id)
        return error
    }
}
