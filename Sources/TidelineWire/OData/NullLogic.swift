internal import TidelineStore

/// Rewrites a condition so that it has the same meaning in SQL's three-valued logic as in the
/// ``TidelineStore/Evaluator``.
///
/// In the evaluator, a comparison is true or false, and `!=` and `not` are the exact opposites of `==` and of their
/// term. In SQL, a comparison with a null is neither true nor false, and neither is its opposite. A server over SQL
/// therefore omits rows that the same query finds in the local table. The rewritten condition includes those rows:
/// `priority ne 3 or priority eq null`. It is true for the same rows in both logics. Where it is not true, it may be
/// unknown.
struct NullLogic {
    private let shape: RowShape?

    init(_ schema: TableSchema?) { shape = schema?.makeShape() }

    /// - Throws: ``WireError/Code/invalidFilter`` if the condition is nested more than 1,000 levels deep.
    func rewritten(_ condition: RowPredicate) throws(WireError) -> RowPredicate {
        try rewritten(condition, holds: true, depth: 1)
    }

    /// Returns a condition that is true if `condition` is true (`holds`) or if it is not (`!holds`).
    private func rewritten(_ condition: RowPredicate, holds: Bool, depth: Int) throws(WireError) -> RowPredicate {
        guard depth <= OData.maximumDepth else { throw OData.tooDeep() }
        switch condition {
        case .and(let terms), .or(let terms):
            let isAnd = condition.isAnd
            var parts: [RowPredicate] = []
            for term in Self.flattened(terms, isAnd: isAnd) {
                parts.append(try rewritten(term, holds: holds, depth: depth + 1))
            }
            return isAnd == holds ? .and(parts) : Self.either(parts)
        case .not(let term):
            return try rewritten(term, holds: !holds, depth: depth + 1)
        case .comparison(let comparison, let a, let b):
            guard let expanded = Self.expanded(comparison, a, b) else {
                return self.comparison(comparison, a, b, holds)
            }
            return try rewritten(expanded, holds: holds, depth: depth + 1)
        case .membership(let member, let values):
            guard member.isCertain else { return membership(condition, member, values, holds) }
            let terms = values.map { RowPredicate.comparison(.equal, member, .literal($0)) }
            return try rewritten(.or(terms), holds: holds, depth: depth + 1)
        case .function(.equalsIgnoringCase, let operands) where operands.count == 2:
            return self.comparison(.equal, operands[0].loweredForFilter, operands[1].loweredForFilter, holds)
        case .literal(let value):
            return holds ? condition : .literal(.bool(value != .bool(true)))
        case .column, .function, .arithmetic:
            return holds ? condition : Self.either([.not(condition)] + nullTests(of: condition))
        }
    }

    // MARK: Leaves

    private func comparison(
        _ comparison: RowPredicate.Comparison, _ a: RowPredicate, _ b: RowPredicate, _ holds: Bool
    ) -> RowPredicate {
        let plain = RowPredicate.comparison(comparison, a, b)
        let hasNull = a.isIdentical(to: .null) || b.isIdentical(to: .null)
        switch (comparison, holds) {
        case (.equal, true), (.notEqual, false):
            let (first, second) = (nullTests(of: a), nullTests(of: b))
            let equality = RowPredicate.comparison(.equal, a, b)
            guard !hasNull, !first.isEmpty, !second.isEmpty else { return equality }
            return .or([equality, .and([Self.either(first), Self.either(second)])])
        case (.notEqual, true), (.equal, false):
            return hasNull ? .comparison(.notEqual, a, b) : inequality(a, b)
        case (_, true):
            return plain
        case (_, false):
            return hasNull ? true : Self.either([.not(plain)] + nullTests(of: a) + nullTests(of: b))
        }
    }

    private func inequality(_ a: RowPredicate, _ b: RowPredicate) -> RowPredicate {
        let (first, second) = (nullTests(of: a), nullTests(of: b))
        let inequality = RowPredicate.comparison(.notEqual, a, b)
        guard !first.isEmpty, !second.isEmpty else { return Self.either([inequality] + first + second) }
        // Two nulls are equal.
        return .or([
            inequality, .and([Self.either(first)] + second.map(\.opposite)),
            .and(first.map(\.opposite) + [Self.either(second)]),
        ])
    }

    private func membership(
        _ condition: RowPredicate, _ member: RowPredicate, _ values: [Value], _ holds: Bool
    ) -> RowPredicate {
        guard !holds else { return condition }
        let others = RowPredicate.and(values.map { .comparison(.notEqual, member, .literal($0)) })
        return values.isEmpty || values.contains(.null) ? others : Self.either([others] + nullTests(of: member))
    }

    /// Returns the conditions under which an operand is null: one of its columns is null, or it divides by zero.
    private func nullTests(of operand: RowPredicate) -> [RowPredicate] {
        var tests: [RowPredicate] = []
        var pending = [operand]
        while let node = pending.popLast() {
            switch node {
            case .column(let name): if isNullable(name) { tests.append(node.isNull) }
            case .literal(let value): if value.isNull { tests.append(true) }
            case .arithmetic(.divide, _, let divisor), .arithmetic(.modulo, _, let divisor):
                tests.append(divisor == 0)
                pending += node.children.reversed()
            case .arithmetic, .function: pending += node.children.reversed()
            case .comparison, .and, .or, .not, .membership: break
            }
        }
        return tests
    }

    private func isNullable(_ column: String) -> Bool {
        guard column != "id" else { return false }
        guard let shape, let index = shape.index(of: column) else { return true }
        return shape.columns[index].isOptional || SystemColumns.names.contains(column)
    }

    // MARK: Conditions as operands

    /// Returns a comparison with a condition, such as `(priority eq 1) eq false`, rewritten without the condition as an
    /// operand, or `nil` if neither operand is a condition.
    private static func expanded(_ comparison: RowPredicate.Comparison, _ a: RowPredicate, _ b: RowPredicate)
        -> RowPredicate?
    {
        guard a.isCertain else { return b.isCertain ? expanded(comparison.flipped, b, a) : nil }
        let (isTrue, isFalse) = (b.equals(true), b.equals(false))
        switch comparison {
        case .equal: return .or([.and([a, isTrue]), .and([.not(a), isFalse])])
        case .notEqual: return .not(.or([.and([a, isTrue]), .and([.not(a), isFalse])]))
        // In this order, false is less than true.
        case .less: return .and([.not(a), isTrue])
        case .lessOrEqual: return .or([isTrue, .and([.not(a), isFalse])])
        case .greater: return .and([a, isFalse])
        case .greaterOrEqual: return .or([isFalse, .and([a, isTrue])])
        }
    }

    // MARK: Groups

    /// Returns the terms of a group, including those of nested groups of the same kind. Uses an explicit stack, because
    /// such groups nest without limit.
    private static func flattened(_ terms: [RowPredicate], isAnd: Bool) -> [RowPredicate] {
        var result: [RowPredicate] = []
        var pending = Array(terms.reversed())
        while let term = pending.popLast() {
            switch term {
            case .and(let inner) where isAnd: pending += inner.reversed()
            case .or(let inner) where !isAnd: pending += inner.reversed()
            default: result.append(term)
            }
        }
        return result
    }

    /// Returns the disjunction of the terms, as one flat node that tests each column for null only once.
    private static func either(_ terms: [RowPredicate]) -> RowPredicate {
        var columns: Set<String> = []
        let distinct = flattened(terms, isAnd: false).filter { term in
            guard case .comparison(.equal, .column(let name), .literal(.null)) = term else { return true }
            return columns.insert(name).inserted
        }
        return distinct.count == 1 ? distinct[0] : .or(distinct)
    }
}

extension RowPredicate {
    fileprivate var isAnd: Bool {
        if case .and = self { true } else { false }
    }

    /// Whether the value is always true or false, and never null.
    fileprivate var isCertain: Bool {
        switch self {
        case .comparison, .not, .membership, .and, .or, .function(.equalsIgnoringCase, _): true
        case .column, .literal, .function, .arithmetic: false
        }
    }

    /// Returns the condition that this operand is true, or that it is false.
    fileprivate func equals(_ value: Bool) -> RowPredicate {
        if isCertain { return value ? self : .not(self) }
        guard case .literal(let literal) = self else { return self == .value(value) }
        return .literal(.bool(literal == .bool(value)))
    }

    /// The opposite of a test for null or zero.
    fileprivate var opposite: RowPredicate {
        switch self {
        case .comparison(.equal, let a, let b): .comparison(.notEqual, a, b)
        default: .not(self)
        }
    }

    /// This text in lower case. A literal is converted here, so that the server need not convert it for every row.
    var loweredForFilter: RowPredicate {
        if case .literal(.string(let text)) = self { .literal(.string(text.asciiLowercased)) } else { lowercased }
    }
}
