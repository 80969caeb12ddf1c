internal import TidelineStore

/// A filter in two parts: a part cheap enough for the store, and a part that the service evaluates itself, row by row
/// and within a ``TidelineStore/EvaluationLimit``.
///
/// A store evaluates a filter to its end, however long that takes. It therefore gets only the terms that take time in
/// proportion to the number of rows and no extra memory: comparisons, and functions that do not make texts longer.
struct FilterSplit {
    /// The part for the store.
    private(set) var stored: RowPredicate?
    /// The part for the service.
    private(set) var costly: RowPredicate?

    /// The maximum cost of the store's part, where a comparison costs 1 and a function 100. Lists of ids that clients
    /// send are within it, so that they can use an index.
    private static let maximumCost = 2_000

    /// - Parameter isolatesRows: Whether the store may evaluate only comparisons, because it may evaluate a predicate
    ///   on rows that the caller must not see. A comparison is cheap and cannot fail, whatever the row; the service
    ///   evaluates the rest on the rows that the caller may see.
    init(_ predicate: RowPredicate?, isolatesRows: Bool) {
        guard let predicate else { return }
        let terms = if case .and(let terms) = predicate { terms } else { [predicate] }
        var left: [RowPredicate] = []
        var cost = 0
        var own: [RowPredicate] = []
        for term in terms {
            if !isolatesRows || term.isPlain, let termCost = Self.cost(of: term), cost + termCost <= Self.maximumCost {
                cost += termCost
                left.append(term)
            } else {
                own.append(term)
            }
        }
        stored = left.isEmpty ? nil : .and(left)
        costly = own.isEmpty ? nil : .and(own)
    }

    /// Returns the cost for one row, or `nil` if the store must not evaluate the predicate.
    private static func cost(of predicate: RowPredicate) -> Int? {
        var cost = 0
        for (node, _) in predicate.nodes {
            switch node {
            case .function(let function, let operands):
                guard isBounded(function, operands) else { return nil }
                cost += 100
            case .membership(_, let values): cost += values.count
            case .comparison, .arithmetic: cost += 1
            case .column, .literal, .and, .or, .not: break
            }
        }
        return cost
    }

    /// Returns whether a function neither returns a text longer than its first operand nor searches for a long text,
    /// which takes an engine time proportional to the product of both lengths.
    private static func isBounded(_ function: RowPredicate.Function, _ operands: [RowPredicate]) -> Bool {
        switch function {
        case .replace, .concat: return false
        case .contains, .indexOf:
            guard operands.count == 2, case .literal(.string(let needle)) = operands[1] else { return false }
            return needle.utf8.count <= CompiledFilter.maximumNeedle
        default: return true
        }
    }
}

extension RowPredicate {
    /// Whether the predicate consists only of comparisons of columns and constants.
    fileprivate var isPlain: Bool {
        nodes.allSatisfy { (node, _) in
            switch node {
            case .function, .arithmetic: false
            default: true
            }
        }
    }
}
