internal import TidelineStore

/// An operator-precedence parser for the text of a `$filter`.
///
/// Incomplete parts are kept on explicit stacks, so that deep nesting cannot overflow the thread's stack.
struct FilterParser {
    private var lexer: FilterLexer
    private let types: LiteralTypes
    private var operands: [Operand] = []
    private var open: [Open] = []
    /// The number of open parentheses and calls.
    private var nesting = 0

    private struct Operand {
        var predicate: RowPredicate
        var depth: Int
        /// The offset at which the operand begins.
        var offset: Int
    }

    /// A part that is waiting for the operands after it.
    private enum Open {
        case parenthesis(offset: Int)
        /// A call with `count` complete operands, which are on the operand stack.
        case call(RowPredicate.Function, word: String, offset: Int, count: Int)
        /// An operator. An `and` or `or` of `count + 1` terms is one entry, so that many terms form one flat node.
        case infix(FilterOperator, count: Int)
        case not(offset: Int)
        case minus(offset: Int)
    }

    init(_ text: String, types: LiteralTypes) {
        lexer = FilterLexer(text)
        self.types = types
    }

    mutating func parse() throws(WireError) -> RowPredicate {
        repeat { try operand() } while try continuation()
        guard let result = operands.popLast() else { throw lexer.fault("the filter is empty", at: 0) }
        return result.predicate
    }

    // MARK: Operands

    /// Reads the prefixes before an operand, and then the operand.
    private mutating func operand() throws(WireError) {
        while true {
            let token = try lexer.peek()
            let offset = token.range.lowerBound
            switch token.kind {
            case .open:
                try lexer.advance()
                try push(.parenthesis(offset: offset), at: offset)
            case .minus:
                try lexer.advance()
                open.append(.minus(offset: offset))
            case .word(FilterKeyword.not.rawValue):
                try lexer.advance()
                open.append(.not(offset: offset))
            case .literal(let value):
                try lexer.advance()
                return push(.literal(value), at: offset)
            case .word(let word):
                try lexer.advance()
                if try call(word, at: offset) { continue }
                return push(try named(word, at: offset), at: offset)
            case .close, .comma, .end:
                throw try lexer.expected("a column, a value, a function or (")
            }
        }
    }

    private func named(_ word: String, at offset: Int) throws(WireError) -> RowPredicate {
        switch FilterKeyword(rawValue: word) {
        case .true: return .literal(.bool(true))
        case .false: return .literal(.bool(false))
        case .null: return .literal(.null)
        case .not, nil: break
        }
        guard types.allows(word) else {
            throw WireError(
                .invalidFilter, "the table does not define this column of the filter\(types.suggestion(for: word))",
                offset: offset, column: word)
        }
        return .column(word)
    }

    /// Opens a call if a parenthesis follows the word.
    private mutating func call(_ word: String, at offset: Int) throws(WireError) -> Bool {
        guard try lexer.peek().kind == .open else { return false }
        guard let function = RowPredicate.Function(word: word) else {
            throw lexer.fault("\(word.debugDescription) is not a function", at: offset)
        }
        try lexer.advance()
        try push(.call(function, word: word, offset: offset, count: 0), at: offset)
        return true
    }

    private mutating func push(_ predicate: RowPredicate, at offset: Int) {
        operands.append(Operand(predicate: predicate, depth: 1, offset: offset))
    }

    private mutating func push(_ nested: Open, at offset: Int) throws(WireError) {
        nesting += 1
        guard nesting < OData.maximumDepth else { throw OData.tooDeep(at: offset) }
        open.append(nested)
    }

    // MARK: Between operands

    /// Reads what follows an operand, up to the start of the next operand. Returns `false` at the end of the text.
    private mutating func continuation() throws(WireError) -> Bool {
        while true {
            let token = try lexer.peek()
            switch token.kind {
            case .close:
                try close()
            case .comma:
                try comma()
                return true
            case .end:
                try reduce(downTo: .or)
                guard open.isEmpty else { throw try lexer.expected("an operator or )") }
                return false
            case .word(let word):
                guard let infix = FilterOperator(word: word) else { throw try lexer.expected("an operator") }
                try lexer.advance()
                try push(infix)
                return true
            case .open, .minus, .literal:
                throw try lexer.expected("an operator")
            }
        }
    }

    private mutating func push(_ infix: FilterOperator) throws(WireError) {
        let joins = infix == .and || infix == .or
        try reduce(downTo: joins ? infix.precedence.tighter : infix.precedence)
        if joins, case .infix(infix, let count)? = open.last {
            open[open.count - 1] = .infix(infix, count: count + 1)
        } else {
            open.append(.infix(infix, count: 1))
        }
    }

    private mutating func close() throws(WireError) {
        try reduce(downTo: .or)
        switch open.popLast() {
        case .parenthesis?:
            break
        case .call(let function, let word, let offset, let count)?:
            guard function.arity.contains(count + 1) else {
                throw lexer.fault("\(word) takes \(function.arityText) operands, not \(count + 1)", at: offset)
            }
            let terms = Array(operands[(operands.count - count - 1)...])
            operands.removeLast(count + 1)
            // Only substringof(part, text) has its operands in the reverse order in the protocol.
            let ordered = word == "substringof" ? terms.reversed() : terms
            try push(.function(function, ordered.map(\.predicate)), over: terms, at: offset)
        case .infix?, .not?, .minus?, nil:
            throw try lexer.expected("an operator or the end")
        }
        nesting -= 1
        try lexer.advance()
    }

    private mutating func comma() throws(WireError) {
        try reduce(downTo: .or)
        guard case .call(let function, let word, let offset, let count)? = open.last else {
            throw try lexer.expected("an operator")
        }
        guard count + 1 < function.arity.upperBound else {
            throw lexer.fault("\(word) takes \(function.arityText) operands, not more", at: offset)
        }
        open[open.count - 1] = .call(function, word: word, offset: offset, count: count + 1)
        try lexer.advance()
    }

    // MARK: Reduction

    /// Completes the open parts whose precedence is `precedence` or higher.
    private mutating func reduce(downTo precedence: FilterPrecedence) throws(WireError) {
        while let last = open.last {
            switch last {
            case .parenthesis, .call:
                return
            case .not(let offset):
                open.removeLast()
                let term = operands.removeLast()
                try push(.not(term.predicate), over: [term], at: offset)
            case .minus(let offset):
                open.removeLast()
                let term = operands.removeLast()
                try push(term.predicate.negated, over: [term], at: offset)
            case .infix(let infix, let count):
                guard infix.precedence >= precedence else { return }
                open.removeLast()
                let terms = Array(operands[(operands.count - count - 1)...])
                operands.removeLast(count + 1)
                try push(try predicate(infix, terms), over: terms, at: terms[0].offset)
            }
        }
    }

    private func predicate(_ infix: FilterOperator, _ terms: [Operand]) throws(WireError) -> RowPredicate {
        switch infix {
        case .and:
            return .and(terms.flatMap { if case .and(let inner) = $0.predicate { inner } else { [$0.predicate] } })
        case .or:
            return .or(terms.flatMap { if case .or(let inner) = $0.predicate { inner } else { [$0.predicate] } })
        case .arithmetic(let operation):
            return .arithmetic(operation, terms[0].predicate, terms[1].predicate)
        case .comparison(let comparison):
            do {
                let (a, b) = try types.converted(terms[0].predicate, terms[1].predicate)
                return .comparison(comparison, a, b)
            } catch {
                var fault = error
                fault.offset = terms[0].offset
                throw fault
            }
        }
    }

    private mutating func push(_ predicate: RowPredicate, over terms: [Operand], at offset: Int) throws(WireError) {
        let depth = (terms.map(\.depth).max() ?? 0) + 1
        guard depth <= OData.maximumDepth else { throw OData.tooDeep(at: offset) }
        operands.append(Operand(predicate: predicate, depth: depth, offset: offset))
    }
}

extension RowPredicate {
    /// This operand with its sign changed: a literal is negated, any other operand is subtracted from zero.
    fileprivate var negated: RowPredicate {
        switch self {
        case .literal(.int(let value)) where value != .min: .literal(.int(-value))
        case .literal(.double(let value)): .literal(.double(-value))
        default: .arithmetic(.subtract, .literal(.int(0)), self)
        }
    }
}
