internal import TidelineStore

/// A filter in two parts: what its cost leaves to the store, and what the service evaluates itself, row by row and within
/// an ``TidelineStore/EvaluationLimit``.
///
/// A store evaluates a filter to its end, however long that takes. So it gets what takes time in proportion to the rows
/// and no memory: comparisons, and a few functions that make no text longer.
struct FilterSplit {
    /// The part for the store.
    private(set) var stored: Predicate?
    /// The part for the service.
    private(set) var costly: Predicate?

    /// The greatest cost of a store's part, where a comparison costs 1 and a function 100: lists of ids that clients send
    /// are in it, so that an index serves them.
    private static let maximumCost = 2_000
    /// The longest text, in bytes, that a store searches for. Stores take time for the product of both texts.
    private static let maximumNeedle = 64

    init(_ predicate: Predicate?) {
        guard let predicate else { return }
        let terms = if case .and(let terms) = predicate { terms } else { [predicate] }
        var left: [Predicate] = []
        var cost = 0
        var own: [Predicate] = []
        for term in terms {
            if let termCost = Self.cost(of: term), cost + termCost <= Self.maximumCost {
                cost += termCost
                left.append(term)
            } else {
                own.append(term)
            }
        }
        stored = left.isEmpty ? nil : .and(left)
        costly = own.isEmpty ? nil : .and(own)
    }

    /// The cost for one row; nil for what a store must not evaluate.
    private static func cost(of predicate: Predicate) -> Int? {
        var cost = 0
        var pending = [predicate]
        while let node = pending.popLast() {
            switch node {
            case .function(let function, let operands):
                guard isBounded(function, operands) else { return nil }
                cost += 100
            case .membership(_, let values): cost += values.count
            case .comparison, .arithmetic: cost += 1
            case .column, .literal, .and, .or, .not: break
            }
            pending += node.children
        }
        return cost
    }

    /// Whether a function makes no text that is longer than its first operand and searches for no long one.
    private static func isBounded(_ function: Predicate.Function, _ operands: [Predicate]) -> Bool {
        switch function {
        case .replace, .concat: return false
        case .contains, .indexOf:
            guard operands.count == 2, case .literal(.string(let needle)) = operands[1] else { return false }
            return needle.utf8.count <= maximumNeedle
        default: return true
        }
    }
}
