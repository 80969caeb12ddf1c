internal import TidelineStore

/// A condition on one column that can be searched for in keys that are ordered by the column.
enum ColumnCondition {
    case comparison(RowPredicate.Comparison, Value)
    case membership([Value])
    case prefix(String)
}

/// One of the conditions that a row must satisfy together.
struct Conjunct {
    /// The condition as in the query, which ``isNegated`` may negate.
    let node: RowPredicate
    let isNegated: Bool

    var predicate: RowPredicate { isNegated ? .not(node) : node }

    /// Returns the conditions that are equivalent to the predicate together, or `nil` if the predicate never holds.
    static func all(of predicate: RowPredicate?) -> [Conjunct]? {
        var found: [Conjunct] = []
        var pending = predicate.map { [Conjunct(node: $0, isNegated: false)] } ?? []
        while let next = pending.popLast() {
            switch next.node {
            case .and(let terms) where !next.isNegated || terms.count == 1,
                .or(let terms) where next.isNegated || terms.count == 1:
                pending += terms.reversed().map { Conjunct(node: $0, isNegated: next.isNegated) }
            case .and(let terms) where terms.isEmpty, .or(let terms) where terms.isEmpty: return nil
            case .not(let term): pending.append(Conjunct(node: term, isNegated: !next.isNegated))
            case .literal(let value):
                guard (value == .bool(true)) != next.isNegated else { return nil }
            case .comparison(.equal, let a, let b) where next.isNegated:
                found.append(Conjunct(node: .comparison(.notEqual, a, b), isNegated: false))
            case .comparison(.notEqual, let a, let b) where next.isNegated:
                found.append(Conjunct(node: .comparison(.equal, a, b), isNegated: false))
            default: found.append(next)
            }
        }
        return found
    }
}

extension ColumnCondition {
    /// Whether the condition excludes any of the column's values.
    fileprivate func bounds(_ column: ColumnReference) -> Bool {
        guard case .comparison(.notEqual, let literal) = self else { return true }
        return column.type == .bool || literal.isNull && column.position != nil
    }
}

/// A conjunct that restricts the values of a single column to intervals of the key order.
struct ColumnConstraint {
    let column: ColumnReference
    /// The conditions, at least one of which holds if the conjunct holds.
    private(set) var conditions: [ColumnCondition]
    /// Whether the conjunct holds if one of the conditions holds.
    private(set) var isExact = true

    /// Creates a constraint, or returns `nil` if the conjunct does not concern a single column or cannot be searched
    /// for.
    init?(_ conjunct: Conjunct, in table: StoredTable) {
        self.init(anyOf: conjunct, in: table)
        guard conditions.allSatisfy({ $0.bounds(column) }) else { return nil }
    }

    private init?(anyOf conjunct: Conjunct, in table: StoredTable) {
        guard case .or = conjunct.node, !conjunct.isNegated else {
            self.init(conjunct.node, isNegated: conjunct.isNegated, in: table)
            return
        }
        var all: Self?
        var pending = [conjunct.node]
        while let node = pending.popLast() {
            if case .or(let terms) = node {
                pending += terms.reversed()
                continue
            }
            guard let term = Self(node, isNegated: false, in: table), all?.column ?? term.column == term.column else {
                return nil
            }
            all?.conditions += term.conditions
            if !term.isExact { all?.isExact = false }
            all = all ?? term
        }
        guard let all else { return nil }
        self = all
    }

    private init?(_ node: RowPredicate, isNegated: Bool, in table: StoredTable) {
        switch node {
        case .column(let name):
            self.init(name, .comparison(isNegated ? .notEqual : .equal, true), in: table)
        case .comparison(let comparison, let a, let b) where !isNegated:
            guard let comparison = ColumnComparison(comparison, a, b, in: table.evaluator) else { return nil }
            self.init(comparison)
        case .membership(.column(let name), let values) where !isNegated:
            self.init(name, .membership(values), in: table)
        case .function(.startsWith, let operands) where !isNegated:
            guard case .column(let name) = operands[0], case .literal(.string(let text)) = operands[1] else {
                return nil
            }
            self.init(name, .prefix(text), in: table)
            // A function sees an identifier as it is stored, but the key contains its folded form.
            isExact = !column.folds
        case .function(.equalsIgnoringCase, let operands) where !isNegated:
            // Equivalent to the comparison of folded identifiers.
            guard let comparison = ColumnComparison(.equal, operands[0], operands[1], in: table.evaluator),
                comparison.column.folds
            else { return nil }
            self.init(comparison)
        default: return nil
        }
    }

    private init?(_ name: String, _ condition: ColumnCondition, in table: StoredTable) {
        guard let column = ColumnReference(name, in: table.evaluator) else { return nil }
        self.init(column: column, conditions: [condition])
    }

    private init(_ comparison: ColumnComparison) {
        self.init(
            column: comparison.column, conditions: [.comparison(comparison.comparison, comparison.literal)])
    }

    private init(column: ColumnReference, conditions: [ColumnCondition]) {
        self.column = column
        self.conditions = conditions
    }
}
