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
        return try condition(predicate, negated: false)
    }

    // MARK: Conditions

    private mutating func condition(_ predicate: RowPredicate, negated: Bool) throws(StoreError) -> SQLFragment {
        switch predicate {
        case .and(let terms): return try group(terms, all: !negated, negated: negated)
        case .or(let terms): return try group(terms, all: negated, negated: negated)
        case .not(let term): return try condition(term, negated: !negated)
        case .comparison(let comparison, let a, let b):
            return try compare(comparison, try value(a), try value(b), negated: negated)
        case .membership(let operand, let values):
            let membership = try membership(of: try value(operand), in: values)
            return negated ? membership.negated : membership
        case .column, .literal, .function, .arithmetic:
            let value = try value(predicate)
            return negated ? value.negated : value
        }
    }

    private mutating func group(
        _ terms: [RowPredicate], all: Bool, negated: Bool
    ) throws(StoreError) -> SQLFragment {
        var fragments: [SQLFragment] = []
        for term in terms { fragments.append(try condition(term, negated: negated)) }
        return ConditionGroup.combine(fragments, all: all)
    }

    // MARK: Values

    private mutating func value(_ predicate: RowPredicate) throws(StoreError) -> SQLFragment {
        switch predicate {
        case .column(let name): return try column(name)
        case .literal(let value): return literal(value)
        case .function(let function, let operands): return try self.function(function, operands)
        case .arithmetic(let arithmetic, let a, let b):
            return try self.arithmetic(arithmetic, try value(a), try value(b))
        case .and, .or, .not, .comparison, .membership:
            return try condition(predicate, negated: false).truth
        }
    }

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

    private mutating func arithmetic(
        _ arithmetic: RowPredicate.Arithmetic, _ a: SQLFragment, _ b: SQLFragment
    ) throws(StoreError) -> SQLFragment {
        guard let type = arithmetic.resultType(of: a.type, b.type) else {
            throw unsupported("\(arithmetic.rawValue) takes numbers only")
        }
        if type == .null { return .null }
        var result: SQLFragment
        switch arithmetic {
        case .add, .subtract: result = .binary(a, arithmetic.symbol, b, .addition, type: type)
        case .multiply, .divide: result = .binary(a, arithmetic.symbol, b, .multiplication, type: type)
        case .modulo: result = .call(SQLFunction.modulo.name, [a, b], type: type)
        }
        result.isNeverNull = false
        return result
    }

    private mutating func function(
        _ function: RowPredicate.Function, _ operands: [RowPredicate]
    ) throws(StoreError) -> SQLFragment {
        var fragments: [SQLFragment] = []
        for operand in operands { fragments.append(try value(operand)) }
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
        guard !negated else { return exact(.binary(left, "IS NOT", right, .equality)) }
        return a.isNeverNull || b.isNeverNull
            ? .binary(left, "=", right, .equality) : exact(.binary(left, "IS", right, .equality))
    }

    private static func exact(_ fragment: SQLFragment) -> SQLFragment {
        var fragment = fragment
        fragment.isNeverNull = true
        return fragment
    }

    /// Returns a test that both operands are null, the only case in which values of incomparable types are equal.
    private static func bothNull(_ a: SQLFragment, _ b: SQLFragment, negated: Bool) -> SQLFragment {
        if a.isNeverNull || b.isNeverNull { return negated ? .true : .false }
        let test = negated ? "IS NOT NULL" : "IS NULL"
        let nulls = [a, b].filter { $0.type != .null }.map { $0.followed(by: test) }
        return ConditionGroup.combine(nulls, all: !negated)
    }

    fileprivate static func areComparable(_ a: OperandType, _ b: OperandType) -> Bool {
        guard a != .null, b != .null else { return false }
        return a == b || (a.isNumeric && b.isNumeric)
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
