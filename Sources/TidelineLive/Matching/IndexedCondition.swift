internal import TidelineStore

/// The condition under which a live query is filed: one that every row satisfies that the query matches.
enum IndexedCondition {
    /// The column has one of these values, in the form that ``ColumnReference/indexedValue(in:)`` returns.
    case equality(ColumnReference, [Value])
    /// The word of the column is in an interval.
    case range(ColumnReference, WordInterval)
    /// There is no such condition.
    case any

    /// Chooses the condition of a predicate that fewest rows are likely to satisfy.
    init(_ predicate: RowPredicate?, in table: Evaluator) {
        var conditions: [IndexedCondition] = []
        var ranges: [(column: ColumnReference, interval: WordInterval)] = []
        for term in predicate.map(Self.conjuncts) ?? [] {
            switch Self(term: term, in: table) {
            case .range(let column, let interval)?:
                if let index = ranges.firstIndex(where: { $0.column == column }) {
                    ranges[index].interval.formIntersection(interval)
                } else {
                    ranges.append((column, interval))
                }
            case let condition?: conditions.append(condition)
            case nil: break
            }
        }
        conditions += ranges.map { IndexedCondition.range($0.column, $0.interval) }
        self = conditions.max { $0.rank < $1.rank } ?? .any
    }

    /// Returns the conditions that must all hold.
    private static func conjuncts(_ predicate: RowPredicate) -> [RowPredicate] {
        var (found, pending) = ([RowPredicate](), [predicate])
        while let node = pending.popLast() {
            if case .and(let terms) = node { pending += terms } else { found.append(node) }
        }
        return found
    }

    private init?(term: RowPredicate, in table: Evaluator) {
        switch term {
        case .column(let name):
            guard let column = ColumnReference(name, in: table), column.type == .bool else { return nil }
            self = .equality(column, [.bool(true)])
        case .not(.column(let name)):
            guard let column = ColumnReference(name, in: table), column.type == .bool else { return nil }
            self = .equality(column, [.bool(false), .null])
        case .membership(.column(let name), let values):
            guard let column = ColumnReference(name, in: table) else { return nil }
            self = .equality(column, values.compactMap { column.indexedValue(of: $0) })
        case .comparison(let comparison, let a, let b):
            guard let comparison = ColumnComparison(comparison, a, b, in: table) else { return nil }
            self.init(comparison)
        default: return nil
        }
    }

    private init?(_ comparison: ColumnComparison) {
        let (column, literal) = (comparison.column, comparison.literal)
        switch comparison.comparison {
        case .equal:
            self = .equality(column, column.indexedValue(of: literal).map { [$0] } ?? [])
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard column.type.isWord else { return nil }
            self = .range(column, WordInterval(comparison.comparison, literal, type: column.type))
        case .notEqual: return nil
        }
    }

    /// The order of preference.
    private var rank: Int {
        switch self {
        case .any: 0
        case .range(let column, let interval): interval.isBounded(in: column.type) ? 3 : 1
        case .equality(let column, let values) where column.type == .bool || values.contains(.null): 2
        case .equality(_, let values): values.count <= 1 ? 5 : 4
        }
    }
}

extension ColumnReference {
    /// Returns the form in which a literal that the column may equal is indexed, or `nil` if no value equals it.
    fileprivate func indexedValue(of literal: Value) -> Value? {
        if literal.isNull { return .null }
        if type.isWord { return WordInterval.word(of: literal, type: type).map { .int($0) } }
        guard literal.type == type else { return nil }
        if folds, case .string(let text) = literal { return .string(text.asciiLowercased) }
        return literal
    }

    /// Returns the indexed form of the column's value in a row.
    func indexedValue(in row: borrowing RowView) -> Value {
        if let word = word(in: row) { return .int(word) }
        guard let position else { return folds ? .string(row.idText.asciiLowercased) : row.id.value }
        return type.isWord ? .null : row.value(at: position) ?? .null
    }

    /// Returns the word of the column's number or instant in a row, or `nil` if there is none.
    func word(in row: borrowing RowView) -> Int64? {
        guard let position else {
            if type == .int, case .int(let number) = row.id { return number }
            return nil
        }
        return switch type {
        case .int: row.int(at: position)
        case .timestamp: row.timestamp(at: position)?.ticks
        case .double: row.double(at: position).map { WordInterval.word(of: $0) }
        default: nil
        }
    }
}

extension WordInterval {
    fileprivate mutating func formIntersection(_ other: WordInterval) {
        self = WordInterval(lower: max(lower, other.lower), upper: min(upper, other.upper))
    }

    /// Whether both ends exclude values of the type.
    fileprivate func isBounded(in type: ColumnType) -> Bool {
        let all = type == .double ? WordInterval.doubles : WordInterval(lower: .min, upper: .max)
        return lower > all.lower && upper < all.upper
    }
}
