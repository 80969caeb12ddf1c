internal import TidelineStore

/// The representation of a column's values in keys, and the intervals of values that satisfy a condition.
struct KeyDomain {
    let column: ColumnReference
    private let ids: IDRule
    /// Whether the value is the identifier at the end of a key, which is not a component.
    private let isLast: Bool

    /// Creates the domain of a column as a component of an index's keys.
    init(componentsOf column: ColumnReference, in table: StoredTable) {
        self.column = column
        ids = table.ids
        isLast = false
    }

    /// Creates the domain of the identifier at the end of row and index keys.
    init(idsAtEndIn table: StoredTable) {
        column = table.evaluator.id
        ids = table.ids
        isLast = true
    }

    /// Returns the intervals of the values that satisfy at least one of the conditions.
    func intervals(forAnyOf conditions: [ColumnCondition]) -> KeyIntervals {
        // Usually there is one condition, which needs no nested arrays.
        KeyIntervals(union: conditions.count == 1 ? intervals(for: conditions[0]) : conditions.flatMap(intervals))
    }

    /// Whether an interval contains a single value, so that the columns after it are in order within the interval.
    func isPoint(_ interval: KeyInterval) -> Bool {
        guard let upper = interval.upper, isAfter(upper, interval.lower) else { return false }
        let length = unsafe interval.lower.withUnsafeBytes {
            unsafe KeyBuilder.componentLength(in: $0, at: 0, type: column.type)
        }
        return isLast || length == interval.lower.count
    }

    // MARK: Conditions

    private func intervals(for condition: ColumnCondition) -> [KeyInterval] {
        switch condition {
        case .comparison(let comparison, let literal): intervals(comparison, literal)
        case .membership(let values): values.flatMap { intervals(.equal, $0) }
        case .prefix(let text): beginning(with: text)
        }
    }

    private func intervals(_ comparison: RowPredicate.Comparison, _ literal: Value) -> [KeyInterval] {
        if literal.isNull { return intervalsOfNull(comparison) }
        if column.type == .bool { return bools(comparison, literal) }
        guard comparison != .notEqual else { return [everything] }
        if column.type.isWord {
            let interval = WordInterval(comparison, literal, type: column.type)
            guard !interval.isEmpty else { return [] }
            return [KeyInterval(lower: bytes(ofWord: interval.lower), upper: after(bytes(ofWord: interval.upper)))]
        }
        guard literal.type == column.type else { return [] }
        let bytes = bytes(of: literal)
        return switch comparison {
        case .equal, .notEqual: [point(bytes)]
        case .less: [KeyInterval(lower: leastValue, upper: bytes)]
        case .lessOrEqual: [KeyInterval(lower: leastValue, upper: after(bytes))]
        case .greater: [KeyInterval(lower: after(bytes), upper: nil)]
        case .greaterOrEqual: [KeyInterval(lower: bytes, upper: nil)]
        }
    }

    private func intervalsOfNull(_ comparison: RowPredicate.Comparison) -> [KeyInterval] {
        switch comparison {
        case .equal: column.position == nil ? [] : [point([KeyBuilder.Mark.null])]
        case .notEqual:
            [column.position == nil ? everything : KeyInterval(lower: [KeyBuilder.Mark.notANumber], upper: nil)]
        case .less, .lessOrEqual, .greater, .greaterOrEqual: []
        }
    }

    /// There are only two bools, so every condition is a list of values.
    private func bools(_ comparison: RowPredicate.Comparison, _ literal: Value) -> [KeyInterval] {
        let isNegated = comparison == .notEqual
        let tags = TagSet(boolsFor: isNegated ? .equal : comparison, literal)
        var values: [Value] = isNegated ? [.null] : []
        if tags.contains(.init(.false)) != isNegated { values.append(.bool(false)) }
        if tags.contains(.init(.true)) != isNegated { values.append(.bool(true)) }
        return values.map { point(bytes(of: $0)) }
    }

    private func beginning(with text: String) -> [KeyInterval] {
        let prefix = column.folds ? Array(text.utf8).asciiFolded : Array(text.utf8)
        guard isLast else {
            var key = KeyBuilder()
            unsafe prefix.withUnsafeBytes { unsafe key.append(beginningOf: $0) }
            return [KeyInterval(lower: key.bytes, upper: KeyRange.end(ofPrefix: key.bytes))]
        }
        // UTF-8 has no byte 0xFF, so a prefix that is not empty has an end.
        return [KeyInterval(lower: prefix, upper: prefix.isEmpty ? nil : KeyRange.end(ofPrefix: prefix))]
    }

    // MARK: Bytes

    /// The lower bound of the values, after nulls and NaN.
    private var leastValue: [UInt8] { isLast ? [] : [KeyBuilder.Mark.value] }

    private var everything: KeyInterval { KeyInterval(lower: [], upper: nil) }

    private func point(_ bytes: [UInt8]) -> KeyInterval { KeyInterval(lower: bytes, upper: after(bytes)) }

    /// Returns the first bytes after a value and everything that follows it in a key.
    private func after(_ bytes: [UInt8]) -> [UInt8] { isLast ? bytes + [0] : KeyRange.end(ofPrefix: bytes) }

    /// Whether bytes are the first after those of a value.
    private func isAfter(_ other: [UInt8], _ bytes: [UInt8]) -> Bool {
        if isLast { return other.count == bytes.count + 1 && other.last == 0 && other.starts(with: bytes) }
        guard let last = bytes.last, last < 0xFF else { return other == after(bytes) }
        return other.count == bytes.count && other.last == last + 1 && other.dropLast() == bytes.dropLast()
    }

    private func bytes(ofWord word: Int64) -> [UInt8] {
        bytes(of: WordInterval.keyValue(of: word, type: column.type))
    }

    private func bytes(of value: Value) -> [UInt8] {
        var key = KeyBuilder()
        switch (column.position, value) {
        case (nil, .int(let id)) where isLast: _ = key.append(id: .int(id), of: .int)
        case (nil, .string(let id)) where isLast: _ = key.append(id: .string(id), of: ids)
        case (nil, .string(let id)):
            unsafe Array(id.utf8).withUnsafeBytes { unsafe key.append(idComponent: $0, of: ids) }
        default: key.append(value)
        }
        return key.bytes
    }
}
