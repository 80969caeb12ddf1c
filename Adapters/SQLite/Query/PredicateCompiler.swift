internal import TidelineStore

/// Compiles predicates to SQL with the meaning that ``Evaluator`` defines.
///
/// A condition is compiled in one of two ways. As a *condition*, null may stand for false, which allows plain operators
/// that can use indexes. As a *value*, it is true or false, and null only where the evaluator returns null. `NOT` is
/// pushed down to the leaves, where most operators have an exact opposite.
///
/// The predicate must have passed ``TableQuery/validate(against:)``. Values become parameters, never text.
struct PredicateCompiler {
    let table: StoredTable
    /// The values of the compiled predicate, in the order in which they occur.
    private(set) var values: [Value] = []

    init(_ table: StoredTable) { self.table = table }

    /// The depth limit for predicates: SQLite accepts expressions up to 1,000 levels deep.
    private static let maximumDepth = 900

    /// Returns the SQL for the condition of a `WHERE` clause.
    mutating func compile(_ predicate: RowPredicate) throws(StoreError) -> SQLFragment {
        guard predicate.nodes.allSatisfy({ $0.depth <= Self.maximumDepth }) else {
            throw StoreError(
                .unsupportedQuery, "the predicate is nested more than \(Self.maximumDepth) levels deep",
                table: table.schema.name)
        }
        return try fragment(of: predicate)
    }

    // MARK: Nodes

    /// A step in the compilation of a tree. A stack of steps takes the place of recursion, because a tree may be deeper
    /// than the stack of a thread allows.
    private enum Step {
        case condition(RowPredicate, negated: Bool)
        case value(RowPredicate)
        /// Makes the fragment of a condition or value from those of its operands.
        case endCondition(RowPredicate, negated: Bool)
        case endValue(RowPredicate)
    }

    private mutating func fragment(of predicate: RowPredicate) throws(StoreError) -> SQLFragment {
        var (steps, fragments): ([Step], [SQLFragment]) = ([.condition(predicate, negated: false)], [])
        while let step = steps.popLast() {
            switch step {
            case .condition(.not(let term), let negated): steps.append(.condition(term, negated: !negated))
            case .condition(let node, let negated):
                steps.append(.endCondition(node, negated: negated))
                switch node {
                case .and, .or: steps += node.children.reversed().map { .condition($0, negated: negated) }
                case .comparison, .membership: steps += node.children.reversed().map { .value($0) }
                case .not, .column, .literal, .function, .arithmetic: steps.append(.value(node))
                }
            case .value(.column(let name)): fragments.append(try column(name))
            case .value(.literal(let value)): fragments.append(literal(value))
            case .value(let node):
                steps.append(.endValue(node))
                switch node {
                case .function, .arithmetic: steps += node.children.reversed().map { .value($0) }
                default: steps.append(.condition(node, negated: false))
                }
            case .endCondition(let node, let negated): try endCondition(node, negated: negated, &fragments)
            case .endValue(let node): try endValue(node, &fragments)
            }
        }
        return fragments.removeLast()
    }

    private mutating func endCondition(
        _ node: RowPredicate, negated: Bool, _ fragments: inout [SQLFragment]
    ) throws(StoreError) {
        switch node {
        case .and(let terms):
            fragments.append(ConditionGroup.combine(fragments.takeLast(terms.count), all: !negated))
        case .or(let terms):
            fragments.append(ConditionGroup.combine(fragments.takeLast(terms.count), all: negated))
        case .comparison(let comparison, _, _):
            let operands = fragments.takeLast(2)
            fragments.append(try compare(comparison, operands[0], operands[1], negated: negated))
        case .membership(_, let values):
            let membership = try membership(of: fragments.removeLast(), in: values)
            fragments.append(negated ? membership.negated : membership)
        case .not, .column, .literal, .function, .arithmetic:
            let value = fragments.removeLast()
            fragments.append(negated ? value.negated : value)
        }
    }

    private func endValue(_ node: RowPredicate, _ fragments: inout [SQLFragment]) throws(StoreError) {
        switch node {
        case .function(let function, let terms):
            fragments.append(try self.function(function, fragments.takeLast(terms.count)))
        case .arithmetic(let arithmetic, _, _):
            let operands = fragments.takeLast(2)
            fragments.append(try self.arithmetic(arithmetic, operands[0], operands[1]))
        case .and, .or, .not, .comparison, .membership, .column, .literal:
            fragments.append(fragments.removeLast().truth)
        }
    }

    // MARK: Values

    private func column(_ name: String) throws(StoreError) -> SQLFragment {
        guard let column = table.schema.column(name) else { throw .undefinedColumn(name, in: table.schema) }
        var fragment = SQLFragment.primary(column.name.sqlName, .value(column.type), isNeverNull: name == "id")
        fragment.foldsCase = name == "id" && table.schema.foldsID
        fragment.isRowID = name == "id" && table.schema.idType == .int
        return fragment
    }

    private mutating func literal(_ value: Value) -> SQLFragment {
        guard let type = value.type else { return .null }
        var fragment = SQLFragment.primary("?", .value(type), isNeverNull: !value.isNaN)
        fragment.places = [values.count]
        values.append(value)
        fragment.isNaN = value.isNaN
        return fragment
    }

    private func arithmetic(
        _ arithmetic: RowPredicate.Arithmetic, _ a: SQLFragment, _ b: SQLFragment
    ) throws(StoreError) -> SQLFragment {
        guard let type = arithmetic.resultType(of: a.type, b.type) else {
            throw unsupported("\(arithmetic.rawValue) takes numbers only")
        }
        if type == .null { return .null }
        // Null if it is not a number, such as after a division by zero.
        switch arithmetic {
        case .add, .subtract: return .binary(a, arithmetic.symbol, b, .addition, type: type, isNeverNull: false)
        case .multiply, .divide:
            return .binary(a, arithmetic.symbol, b, .multiplication, type: type, isNeverNull: false)
        case .modulo: return .call(SQLFunction.modulo.name, [a, b], type: type)
        }
    }

    private func function(
        _ function: RowPredicate.Function, _ fragments: [SQLFragment]
    ) throws(StoreError) -> SQLFragment {
        guard let type = function.resultType(of: fragments.map(\.type)) else {
            throw unsupported("\(function.rawValue) does not take these operands")
        }
        if type == .null { return .null }
        switch function {
        case .equalsIgnoringCase:
            return Self.equality(fragments[0], fragments[1], folding: true, negated: false).truth
        case .concat: return .binary(fragments[0], "||", fragments[1], .concatenation, type: type)
        default:
            guard let own = SQLFunction(rawValue: function.rawValue) else {
                throw unsupported("\(function.rawValue) is not supported by this store")
            }
            return .call(own.name, fragments, type: type)
        }
    }

    private func unsupported(_ message: String) -> StoreError {
        StoreError(.unsupportedQuery, message, table: table.schema.name)
    }
}

extension [SQLFragment] {
    /// Removes and returns the last fragments.
    fileprivate mutating func takeLast(_ count: Int) -> [SQLFragment] {
        defer { removeLast(count) }
        return Array(suffix(count))
    }
}

// MARK: - Comparisons

extension PredicateCompiler {
    private func compare(
        _ comparison: RowPredicate.Comparison, _ a: SQLFragment, _ b: SQLFragment, negated: Bool
    ) throws(StoreError) -> SQLFragment {
        let folding = a.foldsCase || b.foldsCase
        switch comparison {
        case .equal: return Self.equality(a, b, folding: folding, negated: negated)
        case .notEqual: return Self.equality(a, b, folding: folding, negated: !negated)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: break
        }
        guard Self.areComparable(a.type, b.type), !a.isNaN, !b.isNaN else { return negated ? .true : .false }
        let ordering = SQLFragment.binary(a, comparison.symbol, folding ? b.folded : b, .inequality)
        return negated ? ordering.negated : ordering
    }

    /// Returns `a == b`, where two nulls are equal.
    fileprivate static func equality(
        _ a: SQLFragment, _ b: SQLFragment, folding: Bool, negated: Bool
    ) -> SQLFragment {
        if a.isNaN || b.isNaN { return negated ? .true : .false }
        guard areComparable(a.type, b.type) else { return bothNull(a, b, negated: negated) }
        let left = a.equated(with: b)
        let right = folding ? b.folded : b.equated(with: a)
        // `=` with a null gives null, which counts as false in a condition: correct if one side is never null. `IS NOT`
        // is the exact opposite of equality in every case.
        guard !negated else { return .binary(left, "IS NOT", right, .equality, isNeverNull: true) }
        return a.isNeverNull || b.isNeverNull
            ? .binary(left, "=", right, .equality) : .binary(left, "IS", right, .equality, isNeverNull: true)
    }

    /// Returns a test that both operands are null, the only case in which values of incomparable types are equal.
    private static func bothNull(_ a: SQLFragment, _ b: SQLFragment, negated: Bool) -> SQLFragment {
        if a.isNeverNull || b.isNeverNull { return negated ? .true : .false }
        let test = negated ? "IS NOT NULL" : "IS NULL"
        let nulls = [a, b].filter { $0.type != .null }.map { $0.followed(by: test) }
        return ConditionGroup.combine(nulls, all: !negated)
    }

    fileprivate static func areComparable(_ a: OperandType, _ b: OperandType) -> Bool {
        a != .null && b != .null && a.isComparable(with: b)
    }

    fileprivate mutating func membership(
        of operand: SQLFragment, in values: [Value]
    ) throws(StoreError) -> SQLFragment {
        let isNullAmongThem = values.contains(.null)
        let candidates = values.map { literal($0) }.filter { !$0.isNaN && Self.areComparable(operand.type, $0.type) }
        var tests: [SQLFragment] = []
        if !candidates.isEmpty, !operand.isNaN {
            let list = candidates.map(\.text).joined(separator: ", ")
            let double = candidates.first { $0.type == .value(.double) }
            let left = operand.foldsCase ? operand.folded : double.map(operand.equated) ?? operand
            let inList = left.level < .equality ? left.parenthesized : left
            tests.append(
                SQLFragment(
                    text: "\(inList.text) IN (\(list))", places: inList.places + candidates.flatMap(\.places),
                    level: .equality, type: .value(.bool), isNeverNull: operand.isNeverNull, nesting: inList.nesting + 1
                ))
        }
        if isNullAmongThem, !operand.isNeverNull, !operand.isNaN { tests.append(operand.followed(by: "IS NULL")) }
        return ConditionGroup.combine(tests, all: false)
    }
}
