/// The definition of what a query means. Every store answers as this does, or refuses the query.
///
/// It is written to be read, not to be fast. A store compiles a query to its engine's language, or runs this over the
/// rows that its index narrowed down.
///
/// ## Conditions
/// The logic has two values. A condition that comes out null, such as a bool column without a value, counts as false,
/// and `not` of it is true. Conditions, at the top and under `and`, `or` and `not`, must be of type bool or null.
///
/// | node | value |
/// |---|---|
/// | column | the row's value; null when the row does not name it |
/// | `a == b` | true when both are null, or when they compare as equal |
/// | `a != b` | the opposite of `a == b`, always |
/// | `<` `<=` `>` `>=` | false when an operand is null or NaN |
/// | and, or | of no conditions: true, false |
/// | membership | whether `==` holds with one of the values, so that null is in `[null]`; in none, false |
///
/// ## How values compare
///
/// | types | rule |
/// |---|---|
/// | int and double, in any pairing | by exact mathematical value; `-0.0 == 0.0`; NaN equals nothing, not even itself |
/// | bool | false before true |
/// | timestamp | by ticks |
/// | string | by UTF-8 bytes; no collation, no normalisation |
/// | `id` of a table with ``IDMatching/asciiCaseInsensitive`` | as strings with `A`–`Z` made `a`–`z`, when the column `id` itself is an operand of a comparison or membership, and in an order; functions see it as it is stored |
/// | bytes | byte by byte, a prefix first |
/// | JSON | by the bytes of its text |
/// | other pairings | not equal, and neither is less |
///
/// ## Functions
/// Of a null, null, but for `equalsIgnoringCase`, which is true of two nulls and false of one. An operand of another type
/// than the function takes is refused before a row is read.
///
/// | function | value |
/// |---|---|
/// | length | the number of Unicode scalars |
/// | indexOf(text, other) | where `other` first occurs, in Unicode scalars from 0; -1 when it does not, 0 when it is empty |
/// | substring(text, start[, length]) | in Unicode scalars; a negative start or length counts as 0; past the end there is nothing |
/// | startsWith, endsWith, contains | byte by byte, without wildcards; true of an empty text |
/// | lower, upper, equalsIgnoringCase | ASCII letters only |
/// | trim | without tab, line feed, vertical tab, form feed, carriage return and space at both ends |
/// | concat | both texts |
/// | replace | every occurrence, from the left, not overlapping; of an empty text, none |
/// | round, floor, ceiling | of an int, itself; of a double, a double, halves rounded away from zero; of NaN, null |
/// | year, month, day, hour, minute, second | int, in UTC, proleptic Gregorian calendar; the whole second |
///
/// ## Arithmetic
/// Of a null, null. Of two ints, an int: division truncates, `%` has the dividend's sign, and a result beyond 64 bits is
/// the double that the operands as doubles give. With a double, all in doubles, `%` as C's `fmod`. Division by zero and
/// `%` of zero are null, as is every result that is NaN; infinities are values. Other operands than numbers are refused.
/// Where the arithmetic of ints overflowed, a position for `substring` is the double's whole part, held to 64 bits.
///
/// ## Order and result
/// Ascending, nulls come first, then NaN, then values as they compare; descending is the reverse. Rows equal in all
/// terms, and all rows when there is no term, come by ascending id as ids of the table compare. Skip and limit apply to
/// the ordered rows, the total count to all that match. A result's row names the columns selected, a column without a
/// value as null.
public struct Evaluator: Sendable {
    private let schema: TableSchema
    private let definition: RowShape

    /// An evaluator for the rows of a table.
    public init(schema: TableSchema) {
        self.schema = schema
        definition = schema.makeShape()
    }

    /// Checks a predicate and makes it ready for rows of `shape`, which may lack columns of the table.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/invalidValue``, naming the column, for a column that the table does
    ///   not define; ``StoreError/Code/unsupportedQuery`` for operands that a node does not take.
    public func compile(_ predicate: Predicate, for shape: RowShape) throws(StoreError) -> CompiledPredicate {
        try CompiledPredicate(predicate, schema: schema, definition: definition, shape: shape)
    }

    /// Checks a query as ``Query/validate(against:)`` does; a store that keeps an evaluator for each table checks many
    /// without looking at the definition anew.
    public func validate(_ query: Query) throws(StoreError) {
        guard query.skip >= 0, query.limit ?? 0 >= 0 else {
            throw StoreError(.unsupportedQuery, "skip and limit must not be negative", table: query.table)
        }
        for term in query.order where !isColumn(term.column) {
            throw StoreError.undefinedColumn(term.column, table: query.table)
        }
        for name in query.selection ?? [] where !isColumn(name) {
            throw StoreError.undefinedColumn(name, table: query.table)
        }
        if let predicate = query.predicate, !isPlainCondition(predicate) {
            _ = try condition(predicate, for: definition)
        }
    }

    private func isColumn(_ name: String) -> Bool { name == "id" || definition.index(of: name) != nil }

    /// Whether a predicate is seen at once to be a condition: most are a comparison of columns and literals, or an `and` of
    /// such, which take any types.
    private func isPlainCondition(_ predicate: Predicate) -> Bool {
        guard case .and(let terms) = predicate else { return isPlainComparison(predicate) }
        return terms.allSatisfy(isPlainComparison)
    }

    private func isPlainComparison(_ predicate: Predicate) -> Bool {
        switch predicate {
        case .comparison(_, let a, let b): isPlainOperand(a) && isPlainOperand(b)
        case .membership(let operand, _): isPlainOperand(operand)
        default: false
        }
    }

    private func isPlainOperand(_ operand: Predicate) -> Bool {
        switch operand {
        case .column(let name): isColumn(name)
        case .literal: true
        default: false
        }
    }

    /// What is known of the predicate's value before a row is read.
    /// - Throws: As ``compile(_:for:)``.
    public func type(of predicate: Predicate) throws(StoreError) -> OperandType {
        try compile(predicate, for: definition).type
    }

    /// The predicate's value for a row.
    /// - Throws: As ``compile(_:for:)``.
    public func value(of predicate: Predicate, in row: borrowing RowView) throws(StoreError) -> Value {
        try compile(predicate, for: row.shape).value(in: row)
    }

    /// Whether a row satisfies the predicate.
    /// - Throws: As ``compile(_:for:)``; ``StoreError/Code/unsupportedQuery`` for a predicate that is not a condition.
    public func matches(_ predicate: Predicate, _ row: borrowing RowView) throws(StoreError) -> Bool {
        try condition(predicate, for: row.shape).matches(row)
    }

    /// The order of rows of `shape`; the terms' columns must be the table's.
    public func order(_ terms: [OrderTerm], for shape: RowShape) -> RowOrder {
        RowOrder(terms, schema: schema, shape: shape)
    }

    /// The answer to a query over these rows as the whole table.
    /// - Throws: What ``Query/validate(against:)`` throws.
    public func result(of query: Query, over rows: borrowing PackedRows) throws(StoreError) -> QueryResult {
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
        let columns = query.resultColumns(of: schema).map { ($0.name, rows.shape.index(of: $0.name)) }
        var result = QueryResult(rows: [], totalCount: query.includesTotalCount ? found.count : nil)
        for (_, position) in found.dropFirst(query.skip).prefix(query.limit ?? .max) {
            result.rows.append(rows.withRow(at: position) { Self.row($0, columns) })
        }
        return result
    }

    /// Checks that a predicate is a condition.
    private func condition(_ predicate: Predicate, for shape: RowShape) throws(StoreError) -> CompiledPredicate {
        let compiled = try compile(predicate, for: shape)
        guard compiled.type.isCondition else {
            throw StoreError(.unsupportedQuery, "the predicate is not a condition", table: schema.name)
        }
        return compiled
    }

    private static func row(_ view: borrowing RowView, _ columns: [(name: String, index: Int?)]) -> Row {
        var values: [(name: String, value: Value)] = []
        values.reserveCapacity(columns.count)
        for (name, index) in columns { values.append((name, index.flatMap { view.value(at: $0) } ?? .null)) }
        return Row(id: view.key, distinctColumns: values)
    }
}
