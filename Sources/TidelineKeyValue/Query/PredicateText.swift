internal import TidelineStore

/// Text of predicates for display on one line. Parts that are too long or too deep are omitted.
enum PredicateText {
    private static let maximumDepth = 5
    private static let maximumTerms = 6
    private static let maximumTextLength = 40

    static func text(_ predicate: RowPredicate) -> String { text(predicate, depth: 0) }

    /// Returns the text of a conjunction of predicates.
    static func list(_ predicates: [RowPredicate]) -> String { text(.and(predicates)) }

    private static func text(_ node: RowPredicate, depth: Int) -> String {
        guard depth <= maximumDepth else { return "…" }
        func operand(_ node: RowPredicate) -> String { text(node, depth: depth + 1) }
        switch node {
        case .column(let name): return name
        case .literal(let value): return text(value)
        case .comparison(let comparison, let a, let b): return "\(operand(a)) \(comparison.symbol) \(operand(b))"
        case .and(let terms): return terms.isEmpty ? "true" : joined(terms, "and", depth)
        case .or(let terms): return terms.isEmpty ? "false" : joined(terms, "or", depth)
        case .not(let term): return "not (\(operand(term)))"
        case .membership(let term, let values): return "\(operand(term)) in (\(list(values, text)))"
        case .function(let function, let operands) where operands.count == 2 && function.isCondition:
            return "\(operand(operands[0])) \(function.rawValue) \(operand(operands[1]))"
        case .function(let function, let operands): return "\(function.rawValue)(\(list(operands, operand)))"
        case .arithmetic(let arithmetic, let a, let b): return "(\(operand(a)) \(arithmetic.symbol) \(operand(b)))"
        }
    }

    private static func joined(_ terms: [RowPredicate], _ word: String, _ depth: Int) -> String {
        list(terms, separator: " \(word) ") { term in
            switch term {
            case .and(let inner) where inner.count > 1 && terms.count > 1,
                .or(let inner) where inner.count > 1 && terms.count > 1:
                "(\(text(term, depth: depth + 1)))"
            default: text(term, depth: depth + 1)
            }
        }
    }

    private static func list<T>(_ elements: [T], separator: String = ", ", _ text: (T) -> String) -> String {
        let shown = elements.prefix(maximumTerms).map(text).joined(separator: separator)
        return elements.count > maximumTerms ? "\(shown)\(separator)… (\(elements.count) in all)" : shown
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value), .json(let value): quoted(value)
        case .timestamp(let value): "\(value)"
        case .bytes(let value): "\(value.count) bytes"
        }
    }

    private static func quoted(_ text: String) -> String {
        let start = String(text.unicodeScalars.prefix(maximumTextLength))
        return start.debugDescription + (start.utf8.count < text.utf8.count ? "…" : "")
    }
}

extension RowPredicate.Function {
    /// Whether the function is written as an infix condition.
    fileprivate var isCondition: Bool {
        switch self {
        case .startsWith, .endsWith, .contains, .equalsIgnoringCase: true
        default: false
        }
    }
}
