internal import TidelineStore

/// The first test of a filter, asked of the bytes of most rows without a look at anything else: where its answer is the
/// filter's, nothing more of the row is read.
///
/// A row is certainly one that matches or one that does not, or else the filter is asked as a whole, which tells damage,
/// too. What is read here is checked as the filter checks it.
///
/// `@unchecked Sendable`: the bytes of the constant never change; they are let go of with the test.
final class FirstTest: @unchecked Sendable {
    /// What is known of a row.
    enum Answer { case matches, doesNotMatch, unknown }

    /// What is asked.
    private enum Question {
        case tags(RowTest.Tags)
        case word(WordInterval)
        case doubleWord(WordInterval)
        case equalText
        case text(RowTest.Relations)

        var asksForTags: Bool {
            if case .tags = self { true } else { false }
        }
    }

    private let question: Question
    private let rows: WholeRows
    /// What tags the column's values may have.
    private let tags: RowTest.Tags
    /// The tag of a value that is asked for more than its tag; none is when the tag is all.
    private let valueTag: UInt8
    private let tagOffset: Int
    /// Where the end of the value is written; behind that of the one before, if there is one.
    private let endOffset: Int
    private let isFirstColumn: Bool
    private let ifTrue: Answer
    private let ifFalse: Answer
    private let constant: UnsafeRawBufferPointer

    /// Nil where the filter begins with a test of another kind, or one that decides nothing by itself.
    init?(
        of steps: [RowFilter.Step], from start: RowFilter.Label, _ constants: RowFilter.Constants, in table: StoredTable
    ) {
        guard start.position >= 0, let rows = table.wholeRows else { return nil }
        let step = steps[Int(start.position)]
        guard let (operand, question, text) = Self.question(of: step.test) else { return nil }
        (ifTrue, ifFalse) = (Answer(step.ifTrue), Answer(step.ifFalse))
        guard ifTrue != .unknown || ifFalse != .unknown else { return nil }
        self.question = question
        self.rows = rows
        tags = operand.tags
        valueTag = question.asksForTags ? .max : table.shape.columns[Int(operand.position)].type.tag.rawValue
        tagOffset = rows.tagOffset(of: Int(operand.position))
        endOffset = rows.endOffset(of: Int(operand.position))
        isFirstColumn = operand.position == 0
        constant = constants.bytes.withUnsafeBytes { bytes in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text?.count ?? 0, alignment: 1)
            if let text { copy.copyMemory(from: text.bytes(in: bytes)) }
            return UnsafeRawBufferPointer(copy)
        }
    }

    deinit { constant.deallocate() }

    private static func question(of test: RowTest) -> (RowTest.Operand, Question, RowTest.Text?)? {
        switch test {
        case .tags(let operand, let tags) where !operand.isID: (operand, .tags(tags), nil)
        case .word(let operand, let interval) where !operand.isID:
            (operand, operand.kind == .double ? .doubleWord(interval) : .word(interval), nil)
        case .text(let operand, let relations, let text) where !operand.isID && operand.kind == .text:
            (operand, relations == .equal ? .equalText : .text(relations), text)
        default: nil
        }
    }

    /// What the test tells of a stored row.
    ///
    /// Unsafe pointers: `rows` has held the tables against the row's length, and the ends are held against it before
    /// anything is read there.
    @inline(__always)
    func answer(to value: UnsafeRawBufferPointer) -> Answer {
        guard rows.describe(value), let row = value.baseAddress else { return .unknown }
        // There is a column, so that there is an end.
        let length = Self.end(in: row, at: rows.payload &- 2)
        guard rows.payload &+ length <= value.count else { return .unknown }
        let tag = row.load(fromByteOffset: tagOffset, as: UInt8.self)
        guard tag == valueTag else { return answer(toTag: tag) }
        let end = Self.end(in: row, at: endOffset)
        let start = isFirstColumn ? 0 : Self.end(in: row, at: endOffset &- 2)
        guard start <= end, end <= length else { return .unknown }
        return answer(toValue: UnsafeRawBufferPointer(start: row + (rows.payload &+ start), count: end &- start))
    }

    @inline(__always)
    private static func end(in row: UnsafeRawPointer, at offset: Int) -> Int {
        Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    /// What the test tells of a value that is a bool or null, or one whose tag is all that is asked for.
    private func answer(toTag tag: UInt8) -> Answer {
        guard tags.contains(tag: tag) else { return .unknown }
        if case .tags(let wanted) = question { return wanted.contains(tag: tag) ? ifTrue : ifFalse }
        // Of a null, no other test holds.
        return ifFalse
    }

    @inline(__always)
    private func answer(toValue bytes: UnsafeRawBufferPointer) -> Answer {
        if case .equalText = question {
            return bytes.count == constant.count && bytes.isEqual(to: constant) ? ifTrue : ifFalse
        }
        return answer(toOtherValue: bytes)
    }

    private func answer(toOtherValue bytes: UnsafeRawBufferPointer) -> Answer {
        let holds: Bool
        switch question {
        case .text(let relations): holds = relations.contains(order: bytes.compare(constant))
        case .word(let interval):
            guard bytes.count == 8 else { return .unknown }
            holds = interval.contains(Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)))
        case .doubleWord(let interval):
            guard bytes.count == 8 else { return .unknown }
            let bits = Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
            holds = interval.contains(WordInterval.word(ofDoubleBits: bits))
        case .tags, .equalText: return .unknown
        }
        return holds ? ifTrue : ifFalse
    }
}

extension FirstTest.Answer {
    /// What it means that a test goes on to a label.
    fileprivate init(_ label: RowFilter.Label) {
        self = label == .accept ? .matches : label == .reject ? .doesNotMatch : .unknown
    }
}

extension ColumnType {
    /// The tag of its values; of bools, that of one.
    fileprivate var tag: RowTag {
        switch self {
        case .bool: .false
        case .int: .int
        case .double: .double
        case .string: .string
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .json: .json
        }
    }
}
