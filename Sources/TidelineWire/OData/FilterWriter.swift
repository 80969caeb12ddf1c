internal import TidelineStore

/// Writes a predicate as the text of a `$filter`.
///
/// Parts still to be written are kept on an explicit stack, so that deep nesting cannot overflow the thread's stack.
struct FilterWriter {
    private let types: LiteralTypes
    private let syntax: OData.Syntax
    /// The types of columns that are compared with literals of their own, by name.
    private let edmTypes: [String: EdmType]
    private var text = ""
    private var pending: [Piece] = []

    /// The maximum length of the text. Nested memberships repeat their operands, and so could grow without limit.
    private static let maximumLength = 16 << 20

    private enum Piece {
        case text(String)
        /// A part of the tree. It is enclosed in parentheses if its precedence is less than `minimum`. For an operand,
        /// the value matters; for a condition, only whether it is true.
        case node(RowPredicate, depth: Int, minimum: FilterPrecedence, isOperand: Bool)
    }

    init(types: LiteralTypes, syntax: OData.Syntax, edmTypes: [String: EdmType]) {
        self.types = types
        self.edmTypes = edmTypes
        self.syntax = syntax
    }

    mutating func write(_ predicate: RowPredicate) throws(WireError) -> String {
        pending = [.node(predicate, depth: 1, minimum: .or, isOperand: false)]
        while let piece = pending.popLast() {
            switch piece {
            case .text(let text): self.text += text
            case .node(let node, let depth, let minimum, let isOperand):
                try write(node, depth: depth, minimum: minimum, isOperand: isOperand)
            }
            guard text.utf8.count <= Self.maximumLength else {
                throw WireError(.invalidFilter, "the filter is longer than 16 MiB of text")
            }
        }
        return text
    }

    private mutating func write(
        _ node: RowPredicate, depth: Int, minimum: FilterPrecedence, isOperand: Bool
    ) throws(WireError) {
        guard depth <= OData.maximumDepth else { throw OData.tooDeep() }
        switch node {
        case .column(let name):
            try OData.requireIdentifier(name)
            text += name
        case .literal(let value):
            text += try FilterLiteral.text(of: value, syntax)
        case .comparison(let comparison, let first, let second):
            let (a, b) = try types.converted(first, second)
            try types.requireSayable(a, b)
            let operands = [
                try edmLiteral(a, of: b) ?? operand(a, depth, .sum), .text(" \(comparison.word) "),
                try edmLiteral(b, of: a) ?? operand(b, depth, .sum),
            ]
            push(operands, precedence: .equality, minimum: minimum)
        case .arithmetic(let operation, let a, let b):
            let own = operation.precedence
            let operands = [operand(a, depth, own), .text(" \(operation.word) "), operand(b, depth, own.tighter)]
            push(operands, precedence: own, minimum: minimum)
        case .and(let terms):
            group(terms, .and, depth: depth, minimum: minimum, isOperand: isOperand)
        case .or(let terms):
            group(terms, .or, depth: depth, minimum: minimum, isOperand: isOperand)
        case .not(let term):
            let inner = Piece.node(term, depth: depth + 1, minimum: .or, isOperand: false)
            push([.text("not ("), inner, .text(")")], precedence: .prefix, minimum: minimum)
        case .membership(let member, let values):
            let terms = values.map { RowPredicate.comparison(.equal, member, .literal($0)) }
            group(terms, .or, depth: depth, minimum: minimum, isOperand: isOperand)
        case .function(let function, let operands):
            try self.function(function, operands, depth: depth, minimum: minimum)
        }
    }

    /// The maximum number of terms in a row.
    ///
    /// A parser may nest each term of a row in the one before, and some servers refuse more than 100 levels. A longer
    /// row is written as a balanced tree, with parentheses.
    private static let maximumRow = 16

    /// Writes the terms of an `and` or `or`. A group within a group of the same kind needs no parentheses and adds no
    /// depth.
    private mutating func group(
        _ terms: [RowPredicate], _ precedence: FilterPrecedence, depth: Int, minimum: FilterPrecedence, isOperand: Bool
    ) {
        let (word, neutral) = precedence == .and ? (" and ", "true") : (" or ", "false")
        guard let first = terms.first else {
            text += neutral
            return
        }
        let inner = minimum == precedence && !isOperand ? depth : depth + 1
        guard terms.count == 1 else {
            let pieces = Self.flattened(terms, precedence).map {
                Piece.node($0, depth: inner, minimum: precedence, isOperand: false)
            }
            push(Self.row(of: pieces[...], joinedBy: word), precedence: precedence, minimum: minimum)
            return
        }
        if isOperand && first.mayBeNull {
            let piece = Piece.node(first, depth: inner, minimum: precedence, isOperand: false)
            push([piece, .text(word + neutral)], precedence: precedence, minimum: minimum)
        } else {
            pending.append(.node(first, depth: inner, minimum: minimum, isOperand: isOperand))
        }
    }

    /// Returns the terms with those of groups of the same kind in their place.
    private static func flattened(_ terms: [RowPredicate], _ precedence: FilterPrecedence) -> [RowPredicate] {
        var flat: [RowPredicate] = []
        var rest = Array(terms.reversed())
        while let term = rest.popLast() {
            switch (term, precedence) {
            case (.and(let inner), .and) where inner.count > 1, (.or(let inner), .or) where inner.count > 1:
                rest += inner.reversed()
            case (.membership(let member, let values), .or) where values.count > 1:
                flat += values.map { .comparison(.equal, member, .literal($0)) }
            default:
                flat.append(term)
            }
        }
        return flat
    }

    /// Returns the text of terms, with a word between them.
    private static func row(of terms: ArraySlice<Piece>, joinedBy word: String) -> [Piece] {
        guard terms.count > maximumRow else { return Array(terms.map { [$0] }.joined(separator: [.text(word)])) }
        let middle = terms.startIndex + terms.count / 2
        let halves = [terms[..<middle], terms[middle...]].map { half in
            [.text("(")] + row(of: half, joinedBy: word) + [.text(")")]
        }
        return halves[0] + [.text(word)] + halves[1]
    }

    private mutating func function(
        _ function: RowPredicate.Function, _ operands: [RowPredicate], depth: Int, minimum: FilterPrecedence
    ) throws(WireError) {
        guard function.arity.contains(operands.count) else {
            throw WireError(
                .invalidFilter, "\(function.rawValue) takes \(function.arityText) operands, not \(operands.count)")
        }
        guard let word = syntax == .version4 && function == .contains ? "contains" : function.word else {
            let equality = RowPredicate.comparison(.equal, operands[0].loweredForFilter, operands[1].loweredForFilter)
            pending.append(.node(equality, depth: depth, minimum: minimum, isOperand: true))
            return
        }
        // Only substringof(part, text) has its operands in the reverse order in the protocol.
        let ordered = word == "substringof" ? operands.reversed() : operands
        var pieces: [Piece] = [.text("\(word)(")]
        for (index, operand) in ordered.enumerated() {
            if index > 0 { pieces.append(.text(",")) }
            pieces.append(self.operand(operand, depth, .or))
        }
        push(pieces + [.text(")")], precedence: .primary, minimum: minimum)
    }

    /// Returns the literal of a string that is compared with a column of another type on the server, or `nil`.
    private func edmLiteral(_ node: RowPredicate, of other: RowPredicate) throws(WireError) -> Piece? {
        guard case .literal(.string(let text)) = node, case .column(let name) = other, let type = edmTypes[name] else {
            return nil
        }
        return .text(try type.literal(text, in: name))
    }

    private func operand(_ node: RowPredicate, _ depth: Int, _ minimum: FilterPrecedence) -> Piece {
        .node(node, depth: depth + 1, minimum: minimum, isOperand: true)
    }

    private mutating func push(_ pieces: [Piece], precedence: FilterPrecedence, minimum: FilterPrecedence) {
        let isEnclosed = precedence < minimum
        if isEnclosed { pending.append(.text(")")) }
        pending.append(contentsOf: pieces.reversed())
        if isEnclosed { text += "(" }
    }
}

extension RowPredicate {
    /// Whether the value may be null in addition to true or false.
    fileprivate var mayBeNull: Bool {
        switch self {
        case .comparison, .not, .membership: false
        case .and(let terms), .or(let terms): terms.count == 1 && terms[0].mayBeNull
        case .column, .literal, .function, .arithmetic: true
        }
    }
}
