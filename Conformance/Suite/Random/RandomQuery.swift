package import TidelineStore
internal import TidelineSupport

/// Generates queries from a seed that are valid for a table definition and use all kinds of nodes.
package struct RandomQuery: Sendable {
    /// The table definition.
    package let schema: TableSchema
    /// The source of literals that are not taken from a row.
    package var values: RandomValues
    /// The maximum depth of the predicate trees.
    package var maximumDepth = 4
    let rows: [Row]
    var random: SplitMix64

    /// Creates a generator; the same seed produces the same queries. Half of the literals are values of `rows`.
    package init(seed: UInt64, schema: TableSchema, rows: [Row] = [], values: RandomValues = RandomValues()) {
        self.schema = schema
        self.values = values
        self.rows = rows
        random = SplitMix64(seed: seed)
    }

    /// Returns the next query: usually with a predicate, sometimes with an order, paging, a selection, or a count.
    package mutating func next() -> TableQuery {
        var query = TableQuery(schema.name)
        if chance(0.9, using: &random) { query.predicate = condition(depth: maximumDepth) }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            query.order.append(OrderTerm(anyColumn(), descending: Bool.random(using: &random)))
        }
        if chance(0.3, using: &random) { query.skip = pick([0, 1, 3, 1000], using: &random) }
        if chance(0.4, using: &random) { query.limit = pick([0, 1, 5, 1000], using: &random) }
        if chance(0.2, using: &random) {
            query.selection = (0..<Int.random(in: 0...3, using: &random)).map { _ in anyColumn() }
        }
        query.includesTotalCount = chance(0.3, using: &random)
        return query
    }

    /// Returns the next condition, without a query.
    package mutating func nextCondition() -> RowPredicate { condition(depth: maximumDepth) }

    private mutating func anyColumn() -> String { pick(schema.allColumns.map(\.name) + ["id"], using: &random) }

    private mutating func column(_ type: ColumnType) -> RowPredicate? {
        var names = schema.allColumns.filter { $0.type == type }.map(\.name)
        if type == (schema.idType == .int ? .int : .string) { names.append("id") }
        return names.isEmpty ? nil : .column(pick(names, using: &random))
    }

    private mutating func literal(_ type: ColumnType) -> Value {
        if chance(0.08, using: &random) { return .null }
        if chance(0.5, using: &random), !rows.isEmpty, case .column(let name)? = column(type),
            let value = pick(rows, using: &random)[name], !value.isNull
        {
            return value
        }
        return values.value(type, using: &random)
    }
}

// MARK: - Conditions

extension RandomQuery {
    private mutating func condition(depth: Int) -> RowPredicate {
        guard depth > 0 else { return comparison(depth: 0) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1: return .and(conditions(depth: depth - 1))
        case 2, 3: return .or(conditions(depth: depth - 1))
        case 4, 5: return .not(condition(depth: depth - 1))
        case 6, 7: return membership(depth: depth - 1)
        case 8, 9, 10: return textCondition(depth: depth - 1)
        case 11: return operand(.bool, depth: depth - 1)
        default: return comparison(depth: depth - 1)
        }
    }

    private mutating func conditions(depth: Int) -> [RowPredicate] {
        (0..<pick([0, 1, 2, 2, 3], using: &random)).map { _ in condition(depth: depth) }
    }

    private mutating func comparison(depth: Int) -> RowPredicate {
        let type = pick(ColumnType.allCases, using: &random)
        let numeric: [ColumnType] = [.int, .double]
        let other = numeric.contains(type) ? pick(numeric, using: &random) : type
        let comparison = pick(RowPredicate.Comparison.allCases, using: &random)
        return .comparison(comparison, operand(type, depth: depth), operand(other, depth: depth))
    }

    private mutating func membership(depth: Int) -> RowPredicate {
        let type = pick(ColumnType.allCases, using: &random)
        let values = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            literal(type == .int && chance(0.3, using: &random) ? .double : type)
        }
        return .membership(operand(type, depth: depth), values)
    }

    private mutating func textCondition(depth: Int) -> RowPredicate {
        let function = pick(
            [RowPredicate.Function.startsWith, .endsWith, .contains, .equalsIgnoringCase], using: &random)
        let text = operand(.string, depth: depth)
        return .function(
            function, [text, chance(0.4, using: &random) ? fragment(of: text) : operand(.string, depth: depth)])
    }

    /// Returns a part of a value that the column has in some row, so that searches find something.
    private mutating func fragment(of operand: RowPredicate) -> RowPredicate {
        guard case .column(let name) = operand, !rows.isEmpty, let text = pick(rows, using: &random)[name]?.string
        else {
            return .literal(literal(.string))
        }
        let scalars = Array(text.unicodeScalars.prefix(40))
        let start = Int.random(in: 0...scalars.count, using: &random)
        let end = Int.random(in: start...scalars.count, using: &random)
        var part = String.UnicodeScalarView()
        part.append(contentsOf: scalars[start..<end])
        return .literal(.string(String(part)))
    }
}

// MARK: - Operands

extension RandomQuery {
    private mutating func operand(_ type: ColumnType, depth: Int) -> RowPredicate {
        if chance(0.6, using: &random), let column = column(type) { return column }
        guard depth > 0, chance(0.6, using: &random) else { return .literal(literal(type)) }
        switch type {
        case .bool: return condition(depth: depth - 1)
        case .int: return int(depth: depth - 1)
        case .double: return double(depth: depth - 1)
        case .string: return text(depth: depth - 1)
        case .timestamp, .bytes, .json: return .literal(literal(type))
        }
    }

    private mutating func int(depth: Int) -> RowPredicate {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return operand(.string, depth: depth).length
        case 1:
            let text = operand(.string, depth: depth)
            return text.index(of: fragment(of: text))
        case 2: return rounding(.int, depth: depth)
        case 3:
            let part = pick([RowPredicate.Function.year, .month, .day, .hour, .minute, .second], using: &random)
            return .function(part, [operand(.timestamp, depth: depth)])
        default: return arithmetic(.int, .int, depth: depth)
        }
    }

    private mutating func double(depth: Int) -> RowPredicate {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: rounding(.double, depth: depth)
        case 1: arithmetic(.int, .double, depth: depth)
        case 2: arithmetic(.double, .int, depth: depth)
        default: arithmetic(.double, .double, depth: depth)
        }
    }

    private mutating func rounding(_ type: ColumnType, depth: Int) -> RowPredicate {
        .function(pick([RowPredicate.Function.round, .floor, .ceiling], using: &random), [operand(type, depth: depth)])
    }

    private mutating func arithmetic(_ a: ColumnType, _ b: ColumnType, depth: Int) -> RowPredicate {
        .arithmetic(
            pick(RowPredicate.Arithmetic.allCases, using: &random), operand(a, depth: depth), operand(b, depth: depth))
    }

    private mutating func text(depth: Int) -> RowPredicate {
        let text = operand(.string, depth: depth)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return text.lowercased
        case 1: return text.uppercased
        case 2: return text.trimmed
        case 3: return text.appending(operand(.string, depth: depth))
        case 4: return text.replacing(fragment(of: text), with: operand(.string, depth: depth))
        default:
            let length = Bool.random(using: &random) ? operand(.int, depth: depth) : nil
            return text.substring(from: operand(.int, depth: depth), length: length)
        }
    }
}
