extension FilterCompiler {
    /// Returns the tests of a node other than `and`, `or`, and `not`.
    mutating func condition(_ node: RowPredicate) throws(StoreError) -> Condition {
        if let condition = tests(of: node) { return condition }
        constants.predicates.append(try table.compile(node, for: shape))
        return Condition(tests: [.predicate(constants.predicates.count - 1)])
    }

    /// Returns a column of the rows, or `nil` if they lack it: the evaluator then takes it as null.
    private func column(_ name: String) -> ColumnReference? { ColumnReference(name, in: table, at: shape) }

    /// Returns the tests of a node, or `nil` if it has none.
    private mutating func tests(of node: RowPredicate) -> Condition? {
        switch node {
        case .literal(let value): return value == .bool(true) ? .always : .never
        case .column(let name):
            guard let column = column(name), column.type == .bool else { return nil }
            return tags([TagSet(.true)], of: column)
        case .comparison(let comparison, let a, let b):
            let ofLiteral = ColumnComparison(comparison, a, b, in: table, at: shape)
            if let ofLiteral { return tests(of: ofLiteral) }
            guard case .column(let a) = a, case .column(let b) = b, let a = column(a), let b = column(b),
                a.type == b.type
            else { return nil }
            return tests(comparison, a, b)
        case .membership(.column(let name), let values):
            return column(name).map { tests(of: $0, among: values) }
        case .function(let function, let operands) where operands.count == 2:
            return tests(function, operands[0], operands[1])
        default: return nil
        }
    }

    // MARK: Comparisons

    private mutating func tests(of comparison: ColumnComparison) -> Condition {
        var condition = holding(comparison)
        condition.isNegated = comparison.comparison == .notEqual
        return condition
    }

    /// Returns the tests of a comparison with a literal. For `!=`, they are those of `==`.
    private mutating func holding(_ comparison: ColumnComparison) -> Condition {
        let (column, literal) = (comparison.column, comparison.literal)
        let isEquality = comparison.comparison == .equal || comparison.comparison == .notEqual
        if literal.isNull { return isEquality ? isNull(column) : .never }
        if column.type == .bool {
            return tags(TagSet(boolsFor: comparison.comparison, literal), of: column)
        }
        if column.type.isWord {
            let interval = WordInterval(comparison.comparison, literal, type: column.type)
            return interval.isEmpty ? .never : Condition(tests: [.word(ColumnOperand(column), interval)])
        }
        guard literal.type == column.type else { return .never }
        let text = text(literal, folding: column.folds)
        return Condition(
            tests: [.text(ColumnOperand(column), RowTest.Relations(comparison.comparison), text)])
    }

    private func tests(
        _ comparison: RowPredicate.Comparison, _ a: ColumnReference, _ b: ColumnReference
    ) -> Condition {
        let relations = RowTest.Relations(comparison)
        var tests: [RowTest] = [.columns(ColumnOperand(a), relations, ColumnOperand(b))]
        // Two nulls are equal, and neither is less or greater. An identifier is never null.
        if comparison == .equal || comparison == .notEqual, a.position != nil, b.position != nil {
            tests.append(.nulls(ColumnOperand(a), ColumnOperand(b)))
        }
        return Condition(tests: tests, isNegated: comparison == .notEqual)
    }

    private func isNull(_ column: ColumnReference) -> Condition { tags(.null, of: column) }

    private func tags(_ tags: TagSet, of column: ColumnReference) -> Condition {
        guard column.position != nil, !tags.isEmpty else { return .never }
        return Condition(tests: [.tags(ColumnOperand(column), tags)])
    }

    // MARK: Membership

    private mutating func tests(of column: ColumnReference, among values: [Value]) -> Condition {
        var condition = Condition.never
        if values.contains(where: \.isNull) { condition = isNull(column) }
        if column.type == .bool {
            let tags = values.reduce(into: TagSet()) { $0.formUnion(TagSet(boolsFor: .equal, $1)) }
            condition.tests += self.tags(tags, of: column).tests
        } else if column.type.isWord {
            let words = Set(values.compactMap { WordInterval.word(of: $0, type: column.type) }).sorted()
            if let span = span(of: words, in: \.words) {
                condition.tests.append(.wordIn(ColumnOperand(column), span))
            }
        } else {
            let texts = values.filter { $0.type == column.type }.map(\.textBytes)
                .map { column.folds ? $0.asciiFolded : $0 }
            let sorted = Set(texts).sorted { $0.lexicographicallyPrecedes($1) }.map { text($0) }
            if let span = span(of: sorted, in: \.texts) {
                condition.tests.append(.textIn(ColumnOperand(column), span))
            }
        }
        return condition
    }

    private mutating func span<T>(
        of elements: [T], in constants: WritableKeyPath<CompiledFilter.Constants, [T]>
    ) -> RowTest.Span? {
        guard !elements.isEmpty else { return nil }
        let start = self.constants[keyPath: constants].count
        self.constants[keyPath: constants] += elements
        return RowTest.Span(lower: start, upper: start + elements.count)
    }

    // MARK: Texts

    private mutating func tests(_ function: RowPredicate.Function, _ a: RowPredicate, _ b: RowPredicate) -> Condition? {
        if function == .equalsIgnoringCase { return equalsIgnoringCase(a, b) ?? equalsIgnoringCase(b, a) }
        guard case .column(let name) = a, case .literal(let literal) = b, let column = column(name),
            column.type == .string
        else { return nil }
        let operand = ColumnOperand(column)
        switch (function, literal) {
        case (.startsWith, .string): return Condition(tests: [.hasPrefix(operand, text(literal))])
        case (.endsWith, .string): return Condition(tests: [.hasSuffix(operand, text(literal))])
        case (.contains, .string(let needle)) where needle.utf8.count <= CompiledFilter.maximumNeedle:
            return Condition(tests: [.contains(operand, text(literal))])
        case (.startsWith, .null), (.endsWith, .null), (.contains, .null): return .never
        default: return nil
        }
    }

    private mutating func equalsIgnoringCase(_ a: RowPredicate, _ b: RowPredicate) -> Condition? {
        guard case .column(let name) = a, case .literal(let literal) = b, let column = column(name),
            column.type == .string
        else { return nil }
        if literal.isNull { return isNull(column) }
        guard literal.type == .string else { return nil }
        let operand = ColumnOperand(column).folded
        return Condition(tests: [.text(operand, .equal, text(literal, folding: true))])
    }

    private mutating func text(_ literal: Value, folding: Bool = false) -> RowTest.Text {
        text(folding ? literal.textBytes.asciiFolded : literal.textBytes)
    }

    private mutating func text(_ bytes: [UInt8]) -> RowTest.Text {
        constants.bytes += bytes
        return RowTest.Text(offset: constants.bytes.count - bytes.count, count: bytes.count)
    }
}

extension TagSet {
    /// The tags of the bools that satisfy a comparison with a literal; empty if the literal is not a bool.
    package init(boolsFor comparison: RowPredicate.Comparison, _ literal: Value) {
        self = []
        guard case .bool(let literal) = literal else { return }
        let interval = WordInterval(comparison, .int(literal ? 1 : 0), type: .int)
        if interval.contains(0) { insert(TagSet(.false)) }
        if interval.contains(1) { insert(TagSet(.true)) }
    }
}
