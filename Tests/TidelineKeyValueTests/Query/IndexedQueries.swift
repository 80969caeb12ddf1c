import TidelineConformance
import TidelineStore
import TidelineSupport

/// Queries from a seed that indexes can answer in part: conditions on the columns of an index, and orders along it.
struct IndexedQueries {
    let schema: TableSchema
    let rows: [Row]
    var values: RandomValues
    private var random: SplitMix64

    init(seed: UInt64, schema: TableSchema, rows: [Row], values: RandomValues) {
        self.schema = schema
        self.rows = rows
        self.values = values
        random = SplitMix64(seed: seed)
    }

    mutating func next() -> TableQuery {
        var columns = schema.indexes.randomElement(using: &random)?.columns ?? []
        if columns.isEmpty || isLikely(0.3) { columns.append("id") }
        var query = TableQuery(schema.name)
        var conditions: [RowPredicate] = []
        for column in columns where isLikely(0.7) { conditions.append(condition(on: column)) }
        if isLikely(0.2) { conditions.append(condition(on: anyColumn())) }
        if !conditions.isEmpty {
            query.predicate = isLikely(0.5) ? .and(conditions.shuffled(using: &random)) : nested(conditions)
        }
        let isDescending = isLikely(0.5)
        for column in columns.dropFirst(isLikely(0.5) ? 1 : 0) where isLikely(0.8) {
            query = query.order(by: column, descending: isLikely(0.1) ? !isDescending : isDescending)
        }
        if isLikely(0.2) { query = query.order(by: "id", descending: isLikely(0.5)) }
        if isLikely(0.4) { query.limit = [0, 1, 2, 7, .max].randomElement(using: &random) }
        if isLikely(0.3) { query.skip = [1, 3, 50, .max].randomElement(using: &random) ?? 0 }
        if isLikely(0.2) { query = query.select(anyColumn(), anyColumn()) }
        query.includesTotalCount = isLikely(0.3)
        return query
    }

    private func nested(_ conditions: [RowPredicate]) -> RowPredicate {
        conditions.dropFirst().reduce(conditions[0]) { .and([.and([$0]), .not(.or([.not($1)]))]) }
    }

    private mutating func condition(on column: String) -> RowPredicate {
        let operand = RowPredicate.column(column)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2: return operand == .literal(value(of: column))
        case 3: return .membership(operand, (0..<Int.random(in: 0...4, using: &random)).map { _ in value(of: column) })
        case 4: return .or((0..<Int.random(in: 1...3, using: &random)).map { _ in comparison(column) })
        case 5: return .not(comparison(column))
        case 6: return .and([comparison(column), comparison(column)])
        case 7:
            guard schema.column(column)?.type == .string, let text = value(of: column).string else {
                return comparison(column)
            }
            return operand.hasPrefix(.literal(.string(String(text.unicodeScalars.prefix(1)))))
        case 8:
            guard schema.column(column)?.type == .bool else { return operand != .null }
            return isLikely(0.5) ? operand : !operand
        default: return comparison(column)
        }
    }

    private mutating func comparison(_ column: String) -> RowPredicate {
        let relation = RowPredicate.Comparison.allCases.randomElement(using: &random) ?? .equal
        let (operand, literal) = (RowPredicate.column(column), RowPredicate.literal(value(of: column)))
        return isLikely(0.2) ? .comparison(relation, literal, operand) : .comparison(relation, operand, literal)
    }

    /// Returns a value of the column in some row, another value of its type, or a number of the other numeric type.
    private mutating func value(of column: String) -> Value {
        if isLikely(0.05) { return .null }
        if isLikely(0.75), let value = rows.randomElement(using: &random)?[column] {
            if case .int(let number) = value, isLikely(0.2) { return .double(Double(number) + 0.5) }
            if column == "id", let text = value.string, isLikely(0.3) { return .string(text.uppercased()) }
            return value
        }
        let type = schema.column(column)?.type ?? (schema.idType == .int ? .int : .string)
        let other: ColumnType = type == .int ? .double : type == .double ? .int : type
        return values.value(isLikely(0.2) ? other : type, using: &random)
    }

    private mutating func anyColumn() -> String {
        (schema.allColumns.map(\.name) + ["id"]).randomElement(using: &random) ?? "id"
    }

    private mutating func isLikely(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
}
