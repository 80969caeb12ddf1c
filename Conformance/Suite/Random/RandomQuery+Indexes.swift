package import TidelineStore

/// Queries that an index can serve completely or in part: points, ranges, prefixes, and lists of values of its columns,
/// several conditions on one column, disjoint ranges, and orders in its direction or the opposite one.
extension RandomQuery {
    /// Returns the next query.
    package mutating func nextIndexed() -> TableQuery {
        let columns = indexedColumns()
        let row = rows.isEmpty ? nil : pick(rows, using: &random)
        var query = TableQuery(schema.name)
        query.predicate = condition(on: columns, like: row)
        query.order = order(along: columns)
        if chance(0.3, using: &random) { query.skip = pick([1, 2, 7], using: &random) }
        if chance(0.5, using: &random) { query.limit = pick([0, 1, 3, 50], using: &random) }
        if chance(0.2, using: &random) { query.selection = Array(columns.suffix(1)) }
        query.includesTotalCount = chance(0.3, using: &random)
        return query
    }

    /// Returns the columns of an index, followed by `id` as in its entries, or columns without an index.
    private mutating func indexedColumns() -> [String] {
        let lists = schema.indexes.map(\.columns) + [[]]
        let columns = pick(lists, using: &random)
        return columns.contains("id") ? columns : columns + ["id"]
    }

    private mutating func condition(on columns: [String], like row: Row?) -> RowPredicate? {
        var terms: [RowPredicate] = []
        let points = Int.random(in: 0...columns.count, using: &random)
        for column in columns.prefix(points) { terms.append(point(column, row)) }
        if points < columns.count, chance(0.8, using: &random) {
            for _ in 0..<pick([1, 1, 2, 2, 3], using: &random) { terms.append(bound(columns[points], row)) }
        }
        if chance(0.2, using: &random) { terms.append(bound(pick(columns, using: &random), row)) }
        if chance(0.2, using: &random) { terms.append(nextCondition()) }
        terms.shuffle(using: &random)
        guard let first = terms.first else { return nil }
        var condition = terms.count == 1 ? first : .and(terms)
        if chance(0.15, using: &random) { condition = .or([condition, point(pick(columns, using: &random), row)]) }
        if chance(0.05, using: &random) { condition = .not(condition) }
        return condition
    }

    private mutating func order(along columns: [String]) -> [OrderTerm] {
        let isDescending = Bool.random(using: &random)
        let start = chance(0.7, using: &random) ? 0 : Int.random(in: 0..<columns.count, using: &random)
        let count = Int.random(in: 0...(columns.count - start), using: &random)
        return columns[start..<(start + count)].map { column in
            OrderTerm(column, descending: chance(0.15, using: &random) ? !isDescending : isDescending)
        }
    }

    /// Returns a condition that holds for one value or a few values of a column.
    private mutating func point(_ column: String, _ row: Row?) -> RowPredicate {
        let value = value(of: column, in: row)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .comparison(.equal, .literal(value), .column(column))
        case 1: return .not(.comparison(.notEqual, .column(column), .literal(value)))
        case 2, 3:
            let count = Int.random(in: 0...4, using: &random)
            let others = (0..<count).map { _ in
                self.value(of: column, in: rows.isEmpty ? nil : pick(rows, using: &random))
            }
            return .membership(.column(column), (others + [value]).shuffled(using: &random))
        default: return .comparison(.equal, .column(column), .literal(value))
        }
    }

    /// Returns a condition that bounds a column's values.
    private mutating func bound(_ column: String, _ row: Row?) -> RowPredicate {
        let value = value(of: column, in: chance(0.5, using: &random) ? row : rows.randomElement(using: &random))
        if case .string(let text) = value, chance(0.3, using: &random) {
            let scalars = text.unicodeScalars
            let count = Int.random(in: 0...scalars.count, using: &random)
            return .function(
                .startsWith,
                [.column(column), .literal(.string(String(String.UnicodeScalarView(scalars.prefix(count)))))])
        }
        let comparison = pick(
            [RowPredicate.Comparison.less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual], using: &random)
        return Bool.random(using: &random)
            ? .comparison(comparison, .column(column), .literal(value))
            : .comparison(comparison, .literal(value), .column(column))
    }

    /// Returns the value of a row's column, a neighboring value, or another value.
    private mutating func value(of column: String, in row: Row?) -> Value {
        let type = schema.column(column)?.type ?? (schema.idType == .int ? .int : .string)
        guard let value = row?[column], chance(0.9, using: &random) else {
            guard chance(0.2, using: &random) else { return anyValue(type) }
            return type == .int || type == .double ? pick([.null, .double(.nan)], using: &random) : .null
        }
        return chance(0.2, using: &random) ? neighbour(of: value) : value
    }

    private mutating func anyValue(_ type: ColumnType) -> Value { values.value(type, using: &random) }

    private mutating func neighbour(of value: Value) -> Value {
        switch value {
        case .int(let number):
            return pick(
                [.int(number &+ 1), .int(number &- 1), .double(Double(number)), .double(Double(number) + 0.5)],
                using: &random)
        case .double(let number):
            return pick(
                [.double(number.nextUp), .double(-number), Int64(exactly: number).map { .int($0) } ?? .int(0)],
                using: &random)
        case .string(let text):
            return .string(
                pick(
                    [text + "\0", String(text.unicodeScalars.dropLast()), text.asciiUppercased, text.asciiLowercased],
                    using: &random))
        case .timestamp(let instant): return .timestamp(instant.advanced(byTicks: 1))
        case .bytes(let bytes): return .bytes(pick([bytes + [0], Array(bytes.dropLast())], using: &random))
        case .bool(let flag): return .bool(!flag)
        case .json, .null: return .null
        }
    }
}
