/// The pre-filter: the first test of a filter, evaluated directly on the bytes of most rows.
///
/// If its result determines that of the filter, nothing else of the row is read. Otherwise the whole filter is
/// evaluated, which also detects damage. The bytes that this test reads are checked as the filter checks them.
///
/// `@unchecked Sendable`: the bytes of the constant never change, and they are freed with the test.
@safe
@usableFromInline
package final class PreFilter: @unchecked Sendable {
    /// The result for a row.
    @usableFromInline
    package enum Verdict { case matches, doesNotMatch, unknown }

    /// The kind of test.
    private enum Condition {
        case tags(TagSet)
        case word(WordInterval)
        case doubleWord(WordInterval)
        case equalText
        case text(RowTest.Relations)
    }

    private let condition: Condition
    @usableFromInline let isTextEquality: Bool
    @usableFromInline let rows: RowLayout
    @usableFromInline let place: RowLayout.Place
    /// The valid tags of the column's values.
    private let tags: TagSet
    /// The tag of values whose content is tested; no tag if only tags are tested.
    @usableFromInline let valueTag: UInt8
    @usableFromInline let ifTrue: Verdict
    @usableFromInline let ifFalse: Verdict
    @usableFromInline let constant: UnsafeRawBufferPointer

    /// Creates a pre-filter, or returns `nil` if the filter's first test is of another kind or determines no result
    /// alone.
    init?(
        of steps: [CompiledFilter.Step], from start: CompiledFilter.Label, _ constants: CompiledFilter.Constants,
        in shape: RowShape, packedAs rows: RowLayout
    ) {
        guard start.position >= 0 else { return nil }
        let step = steps[Int(start.position)]
        guard let (operand, condition, text) = Self.condition(of: step.test) else { return nil }
        (ifTrue, ifFalse) = (Verdict(step.ifTrue), Verdict(step.ifFalse))
        guard ifTrue != .unknown || ifFalse != .unknown else { return nil }
        self.condition = condition
        isTextEquality = if case .equalText = condition { true } else { false }
        self.rows = rows
        tags = operand.tags
        let type = shape.columns[Int(operand.position)].type
        valueTag = if case .tags = condition { .max } else { RowTag.all.first { $0.type == type }?.rawValue ?? .max }
        place = rows.place(of: Int(operand.position))
        unsafe constant = constants.bytes.withUnsafeBytes { bytes in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text?.count ?? 0, alignment: 1)
            if let text { unsafe copy.copyMemory(from: text.bytes(in: bytes)) }
            return UnsafeRawBufferPointer(copy)
        }
    }

    deinit { unsafe constant.deallocate() }

    private static func condition(of test: RowTest) -> (ColumnOperand, Condition, RowTest.Text?)? {
        switch test {
        case .tags(let operand, let tags) where !operand.isID: (operand, .tags(tags), nil)
        case .word(let operand, let interval) where !operand.isID:
            (operand, operand.kind == .double ? .doubleWord(interval) : .word(interval), nil)
        case .text(let operand, let relations, let text) where !operand.isID && operand.kind == .text:
            (operand, relations == .equal ? .equalText : .text(relations), text)
        default: nil
        }
    }

    /// Returns the result of the test for a stored row.
    ///
    /// Unsafe pointers: `rows` has checked the tables against the row's length, and the ends are checked against it
    /// before values are read.
    @inlinable
    @inline(__always)
    package func answer(to value: UnsafeRawBufferPointer) -> Verdict {
        guard unsafe rows.matches(value), let row = value.baseAddress else { return .unknown }
        let length = unsafe rows.payloadLength(of: row)
        guard rows.payload &+ length <= value.count else { return .unknown }
        let tag = unsafe place.tag(in: row)
        guard tag == valueTag else { return answer(toTag: tag) }
        let (start, end) = unsafe place.bounds(in: row)
        guard start <= end, end <= length else { return .unknown }
        return unsafe answer(toValue: UnsafeRawBufferPointer(start: row + (rows.payload &+ start), count: end &- start))
    }

    /// Returns the result for a value that is a bool or null, or whose tag is all that is tested.
    @usableFromInline
    func answer(toTag tag: UInt8) -> Verdict {
        guard tags.contains(tag: tag) else { return .unknown }
        if case .tags(let wanted) = condition { return wanted.contains(tag: tag) ? ifTrue : ifFalse }
        // No other test holds for null.
        return ifFalse
    }

    @inlinable
    @inline(__always)
    func answer(toValue bytes: UnsafeRawBufferPointer) -> Verdict {
        if isTextEquality {
            return unsafe bytes.count == constant.count && bytes.isEqual(to: constant) ? ifTrue : ifFalse
        }
        return unsafe answer(toOtherValue: bytes)
    }

    @usableFromInline
    func answer(toOtherValue bytes: UnsafeRawBufferPointer) -> Verdict {
        let holds: Bool
        switch condition {
        case .text(let relations): holds = unsafe relations.contains(order: bytes.compare(constant))
        case .word(let interval):
            guard bytes.count == 8 else { return .unknown }
            holds = unsafe interval.contains(bytes.word)
        case .doubleWord(let interval):
            guard bytes.count == 8 else { return .unknown }
            holds = unsafe interval.contains(WordInterval.word(ofDoubleBits: bytes.word))
        case .tags, .equalText: return .unknown
        }
        return holds ? ifTrue : ifFalse
    }
}

extension PreFilter.Verdict {
    /// Creates the result of continuing at a label.
    fileprivate init(_ label: CompiledFilter.Label) {
        self = label == .accept ? .matches : label == .reject ? .doesNotMatch : .unknown
    }
}
