/// The definition of the meaning of a query. Every store returns the same result as the evaluator or rejects the query.
///
/// This implementation favors readability over speed. A store compiles a query to its engine's language, or runs the
/// evaluator on the rows that its index selected.
///
/// ## Conditions
/// The logic has two values. A condition that evaluates to null, such as a bool column without a value, counts as
/// false, and its negation is true. Conditions, at the top level and under `and`, `or`, and `not`, must be of type bool
/// or null.
///
/// | node | value |
/// |---|---|
/// | column | the row's value; null if the column is absent |
/// | `a == b` | true if both are null or compare as equal |
/// | `a != b` | always the opposite of `a == b` |
/// | `<` `<=` `>` `>=` | false if an operand is null or NaN |
/// | and, or | without conditions: true, false |
/// | membership | whether `==` holds for one of the values, so null is in `[null]`; false without values |
///
/// ## How values compare
///
/// | types | rule |
/// |---|---|
/// | int and double, in any combination | by exact mathematical value; `-0.0 == 0.0`; NaN equals nothing, not even
/// itself |
/// | bool | false before true |
/// | timestamp | by ticks |
/// | string | by UTF-8 bytes; no collation, no normalization |
/// | `id` of a table with ``TableSchema/IDMatching/asciiCaseInsensitive`` | as strings with `A`–`Z` replaced by
/// `a`–`z`, if the column `id` itself is an operand of a comparison or membership, and in an order; functions use the
/// stored form |
/// | bytes | byte by byte, a prefix first |
/// | JSON | by the bytes of its text |
/// | other combinations | rejected before a row is read if a column itself is an operand; otherwise not equal, and
/// neither is less |
///
/// ## Functions
/// The result for a null operand is null, except that `equalsIgnoringCase` is true for two nulls and false for one. An
/// operand of a type that the function does not accept is rejected before a row is read.
///
/// | function | value |
/// |---|---|
/// | length | the number of Unicode scalars |
/// | indexOf(text, other) | the position of the first occurrence of `other`, in Unicode scalars from 0; -1 if there is
/// none, 0 if `other` is empty |
/// | substring(text, start[, length]) | in Unicode scalars; a negative start or length counts as 0; empty after the end
/// |
/// | startsWith, endsWith, contains | byte by byte, without wildcards; true for an empty text |
/// | lower, upper, equalsIgnoringCase | ASCII letters only |
/// | trim | without tab, line feed, vertical tab, form feed, carriage return, and space at both ends |
/// | concat | both texts |
/// | replace | replaces every occurrence, from the left, without overlaps; an empty text is not replaced |
/// | round, floor, ceiling | an int unchanged; a double as a double, with halves rounded away from zero; null for NaN |
/// | year, month, day, hour, minute, second | int, in UTC, proleptic Gregorian calendar; the whole second |
///
/// ## Arithmetic
/// The result for a null operand is null. The result for two ints is an int: division truncates, `%` has the dividend's
/// sign, and a result that exceeds 64 bits is the double computed from the operands as doubles. With a double operand,
/// all arithmetic is in doubles, with `%` as C's `fmod`. Division by zero and `%` of zero are null, as is every result
/// that is NaN; infinities are values. Operands that are not numbers are rejected. If the arithmetic of ints
/// overflowed, a position for `substring` is the double's whole part, clamped to 64 bits.
///
/// ## Order and result
/// In ascending order, nulls are first, then NaN, then values as they compare; descending order is the reverse. Rows
/// that are equal in all terms, and all rows if there is no term, are in ascending order of identifier, as identifiers
/// of the table compare. Skip and limit apply to the ordered rows; the total count includes all matching rows. A row of
/// the result contains the selected columns, with null for a column without a value.
public struct Evaluator: Sendable {
    private let table: Table

    /// The table, in one object, so that passing an evaluator is cheap.
    private final class Table: Sendable {
        let schema: TableSchema
        let definition: RowShape
        let id: ColumnReference

        init(_ schema: TableSchema) {
            self.schema = schema
            definition = schema.makeShape()
            id = ColumnReference(position: nil, type: schema.idType == .int ? .int : .string, folds: schema.foldsID)
        }
    }

    /// Creates an evaluator for the rows of a table.
    public init(schema: TableSchema) { table = Table(schema) }

    var schema: TableSchema { table.schema }
    var definition: RowShape { table.definition }
    package var id: ColumnReference { table.id }

    /// Checks a predicate and compiles it for rows of `shape`, which may lack columns of the table.
    ///
    /// - Throws: ``StoreError/Code/invalidValue``, naming the column, if the table does not define a column or a column
    ///   is compared with a value of another type; ``StoreError/Code/unsupportedQuery`` if a node does not accept its
    ///   operands.
    public func compile(_ predicate: RowPredicate, for shape: RowShape) throws(StoreError) -> CompiledPredicate {
        try CompiledPredicate(predicate, schema: schema, definition: definition, shape: shape)
    }

    /// Checks a query, as ``TableQuery/validate(against:)`` does.
    ///
    /// A store that keeps an evaluator for each table can check many queries without processing the definition each
    /// time.
    public func validate(_ query: TableQuery) throws(StoreError) {
        guard query.skip >= 0, query.limit ?? 0 >= 0 else {
            throw StoreError(.unsupportedQuery, "skip and limit must not be negative", table: query.table)
        }
        for term in query.order where !isColumn(term.column) {
            throw StoreError.undefinedColumn(term.column, in: schema)
        }
        for name in query.selection ?? [] where !isColumn(name) {
            throw StoreError.undefinedColumn(name, in: schema)
        }
        if let predicate = query.predicate, !isPlainCondition(predicate) {
            _ = try condition(predicate, for: definition)
        }
    }

    private func isColumn(_ name: String) -> Bool { name == "id" || definition.index(of: name) != nil }

    /// Whether a predicate is trivially a condition.
    ///
    /// Most predicates are a comparison of columns and literals of comparable types, or an `and` of such comparisons.
    private func isPlainCondition(_ predicate: RowPredicate) -> Bool {
        guard case .and(let terms) = predicate else { return isPlainComparison(predicate) }
        return terms.allSatisfy(isPlainComparison)
    }

    private func isPlainComparison(_ predicate: RowPredicate) -> Bool {
        switch predicate {
        case .comparison(_, let a, let b):
            if let a = plainType(a), let b = plainType(b) { a.isComparable(with: b) } else { false }
        case .membership(let operand, let values):
            if let type = plainType(operand) {
                values.allSatisfy { type.isComparable(with: OperandType($0)) }
            } else {
                false
            }
        default: false
        }
    }

    /// Returns the type of a column of the table or a literal, or `nil` for other operands.
    private func plainType(_ operand: RowPredicate) -> OperandType? {
        switch operand {
        case .column("id"): .value(schema.idType == .int ? .int : .string)
        case .column(let name): definition.index(of: name).map { .value(definition.columns[$0].type) }
        case .literal(let value): OperandType(value)
        default: nil
        }
    }

    /// Returns the type of the predicate's value as known before a row is read.
    /// - Throws: The errors of ``compile(_:for:)``.
    public func type(of predicate: RowPredicate) throws(StoreError) -> OperandType {
        try compile(predicate, for: definition).type
    }

    /// Returns the predicate's value for a row.
    /// - Throws: The errors of ``compile(_:for:)``.
    public func value(of predicate: RowPredicate, in row: borrowing RowView) throws(StoreError) -> Value {
        try compile(predicate, for: row.shape).value(in: row)
    }

    /// Returns whether a row satisfies the predicate.
    /// - Throws: The errors of ``compile(_:for:)``; ``StoreError/Code/unsupportedQuery`` if the predicate is not a
    ///   condition.
    public func matches(_ predicate: RowPredicate, _ row: borrowing RowView) throws(StoreError) -> Bool {
        try condition(predicate, for: row.shape).matches(row)
    }

    /// Returns the order of rows of `shape`. The columns of the terms must be the table's.
    public func order(_ terms: [OrderTerm], for shape: RowShape) -> RowOrder {
        RowOrder(terms, schema: schema, shape: shape)
    }

    /// Returns the result of a query on these rows, taken as the whole table.
    /// - Throws: The errors of ``TableQuery/validate(against:)``.
    public func result(of query: TableQuery, over rows: borrowing PackedRows) throws(StoreError) -> QueryResult {
        try validate(query)
        var condition: CompiledPredicate?
        if let predicate = query.predicate { condition = try self.condition(predicate, for: rows.shape) }
        let order = self.order(query.order, for: rows.shape)
        var found: [(key: RowOrder.Key, position: Int)] = []
        for position in 0..<rows.count {
            rows.withRow(at: position) { row in
                guard condition?.matches(row) ?? true else { return }
                found.append((order.key(of: row), position))
            }
        }
        found.sort { order.precedes($0.key, $1.key) }
        let columns = query.resultColumns(of: schema).map { (name: $0.name, position: rows.shape.index(of: $0.name)) }
        var result = QueryResult(rows: [], totalCount: query.includesTotalCount ? found.count : nil)
        for (_, position) in found.dropFirst(query.skip).prefix(query.limit ?? .max) {
            result.rows.append(rows.withRow(at: position) { Row($0, columns: columns) })
        }
        return result
    }

    /// Compiles a predicate and checks that it is a condition.
    private func condition(_ predicate: RowPredicate, for shape: RowShape) throws(StoreError) -> CompiledPredicate {
        let compiled = try compile(predicate, for: shape)
        guard compiled.type.isCondition else {
            throw StoreError(.unsupportedQuery, "the predicate is not a condition", table: schema.name)
        }
        return compiled
    }
}
