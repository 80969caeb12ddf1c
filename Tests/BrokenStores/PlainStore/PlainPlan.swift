internal import TidelineStore

/// The access path of a query: intervals of the keys of an index or of the ids, or the whole table.
struct PlainPlan {
    /// An interval of keys without its upper bound. An interval with no upper bound extends to the end.
    typealias Interval = (lower: [UInt8], upper: [UInt8]?)

    /// The position of the index, or `nil` for the rows' own keys.
    var index: Int?
    var intervals: [Interval] = [([], nil)]
    /// Whether every row in the intervals matches: there is no residual predicate.
    var isExact = false

    init(_ predicate: RowPredicate?, table: PlainTable) {
        guard let predicate else {
            isExact = true
            return
        }
        let terms = predicate.conjuncts(flaw: table.flaw)
        let paths: [(Int?, [String])] = [(nil, ["id"])] + table.indexes.enumerated().map { ($0, $1.columns) }
        for (index, columns) in paths {
            let path = Path(columns, terms, table: table, isIndex: index != nil)
            guard path.depth > 0 else { continue }
            self.index = index
            intervals = path.intervals
            isExact = path.used.count == terms.count || table.flaw == .indexForgetsOtherConditions
            return
        }
    }
}

/// The intervals that the conditions give for the columns of one index, from the first column.
private struct Path {
    var intervals: [PlainPlan.Interval] = []
    /// The number of columns with a condition.
    var depth = 0
    /// The conditions that the intervals cover completely.
    var used: Set<Int> = []

    init(_ columns: [String], _ terms: [RowPredicate], table: PlainTable, isIndex: Bool) {
        var prefix: [UInt8] = []
        for column in columns {
            let operand = PathOperand(column, in: table, isIndex: isIndex)
            let conditions = terms.enumerated().compactMap { offset, term in
                operand.condition(term).map { (offset, $0) }
            }
            guard
                let (offset, keys) = conditions.lazy.compactMap({ offset, condition in
                    condition.keys.map { (offset, $0) }
                }).first
            else {
                narrow(prefix, conditions, flaw: table.flaw)
                return
            }
            depth += 1
            used.insert(offset)
            intervals = keys.map { (prefix + $0, KeyBytes.successor(of: prefix + $0)) }
            guard keys.count == 1, let key = keys.first else { return }
            prefix += key
        }
    }

    /// Narrows the intervals by the lower and upper bounds of the next column.
    private mutating func narrow(_ prefix: [UInt8], _ conditions: [(Int, PathCondition)], flaw: Flaw?) {
        var (lower, upper) = (prefix + [KeyBytes.value], KeyBytes.successor(of: prefix + [KeyBytes.value]))
        guard !conditions.isEmpty else { return }
        depth += 1
        for (offset, condition) in conditions {
            used.insert(offset)
            if let bound = condition.lower, comesFirst(lower, prefix + bound) { lower = prefix + bound }
            if let bound = condition.upper, upper.map({ comesFirst(prefix + bound, $0) }) ?? true {
                upper = prefix + bound
            }
        }
        intervals = [(lower, upper)]
    }
}

/// A condition on one column: equality with one of several keys, or a lower and an upper bound.
struct PathCondition {
    var keys: [[UInt8]]?
    var lower: [UInt8]?
    var upper: [UInt8]?
}

/// A column of an index in a condition.
private struct PathOperand {
    let column: String
    let type: ColumnType?
    let foldsCase: Bool
    let flaw: Flaw?
    let isIndex: Bool

    init(_ column: String, in table: PlainTable, isIndex: Bool) {
        self.column = column
        self.isIndex = isIndex
        type = table.layout.schema.column(column)?.type
        foldsCase = column == "id" && table.layout.foldsIDs
        flaw = table.flaw
    }

    /// Returns the condition on the column, or `nil` if the order of keys cannot answer it.
    func condition(_ term: RowPredicate) -> PathCondition? {
        switch term {
        case .comparison(let comparison, .column(column), .literal(let value)): condition(comparison, value)
        case .comparison(let comparison, .literal(let value), .column(column)):
            condition(flaw == .literalOnTheLeftNotTurned ? comparison : comparison.turned, value)
        case .membership(.column(column), let values): membership(values)
        case .function(.startsWith, let operands): beginning(operands)
        default: nil
        }
    }

    private func condition(_ comparison: RowPredicate.Comparison, _ value: Value) -> PathCondition? {
        guard let key = key(of: value) else { return nil }
        switch comparison {
        case .equal: return PathCondition(keys: [key])
        case .notEqual: return flaw == .indexForNotEqual ? PathCondition(keys: [key]) : nil
        case _ where value.isNull: return nil
        case .less: return PathCondition(upper: key)
        case .lessOrEqual:
            return PathCondition(upper: flaw == .indexUpperBoundExcluded ? key : KeyBytes.successor(of: key))
        case .greater:
            return PathCondition(lower: flaw == .indexLowerBoundIncluded ? key : KeyBytes.successor(of: key))
        case .greaterOrEqual: return PathCondition(lower: key)
        }
    }

    private func membership(_ values: [Value]) -> PathCondition? {
        let foldsCase = foldsCase && !(flaw == .longListsHeedCase && values.count > 16)
        let keys = values.compactMap { key(of: $0, folding: foldsCase) }
        guard keys.count == values.count else { return nil }
        return PathCondition(keys: flaw == .duplicateInListFindsTwice ? keys : Array(Set(keys)))
    }

    /// Texts with a common prefix are adjacent.
    private func beginning(_ operands: [RowPredicate]) -> PathCondition? {
        guard operands.count == 2, type == .string, column != "id", case .column(column) = operands[0],
            case .literal(.string(let text)) = operands[1]
        else { return nil }
        var key = KeyBytes(bytes: [KeyBytes.value], flaw: flaw)
        key.append(beginning: Array(text.utf8))
        let end = flaw == .indexPrefixEndsAtZ ? key.bytes + Array("z".utf8) : KeyBytes.successor(of: key.bytes)
        return PathCondition(lower: key.bytes, upper: end)
    }

    /// Returns the key of a value. The value must have the column's type, so that keys compare as values do.
    private func key(of value: Value) -> [UInt8]? { key(of: value, folding: foldsCase) }

    private func key(of value: Value, folding foldsCase: Bool) -> [UInt8]? {
        guard let type else { return nil }
        var value = value
        if flaw == .indexCutsFractions, type == .int, case .double(let double) = value {
            value = .int(Int64(clamping: Int128(exactly: double.rounded(.towardZero)) ?? 0))
        }
        guard value.isNull || value.type == type else { return nil }
        if case .double(let double) = value, double.isNaN { return nil }
        if foldsCase, case .string(let text) = value, flaw != .idConditionsHeedCase {
            value = .string(text.asciiLowercased)
        }
        var key = KeyBytes(flaw: isIndex ? flaw : nil)
        key.append(value)
        return key.bytes
    }
}

extension RowPredicate.Comparison {
    /// The comparison with its operands swapped.
    fileprivate var turned: Self {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension RowPredicate {
    /// Returns the conditions that must all hold.
    fileprivate func conjuncts(flaw: Flaw?) -> [RowPredicate] {
        switch self {
        case .and(let terms): terms.flatMap { $0.conjuncts(flaw: flaw) }
        case .or(let terms) where flaw == .indexForOr && !terms.isEmpty: terms[0].conjuncts(flaw: flaw)
        case .not(let term) where flaw == .indexForNot: term.conjuncts(flaw: flaw)
        default: [self]
        }
    }
}
