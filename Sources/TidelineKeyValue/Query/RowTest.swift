internal import TidelineStore

/// One question to a row's bytes. Of a null, it is false unless it asks for nulls.
enum RowTest: Sendable {
    /// The column's tag is one of these.
    case tags(column: Int, Tags)
    /// The word of a number or instant lies in an interval.
    case word(Operand, WordInterval)
    /// The word is one of these constants.
    case wordIn(Operand, Span)
    /// The text lies so to a constant.
    case text(Operand, Relations, Text)
    /// The text is one of these constants.
    case textIn(Operand, Span)
    /// The text as it is stored, ids too, begins with a constant.
    case hasPrefix(Operand, Text)
    case hasSuffix(Operand, Text)
    case contains(Operand, Text)
    /// Two columns, neither of them null, lie so to each other.
    case columns(Operand, Relations, Operand)
    /// Both columns are null.
    case nulls(Int, Int)
    /// A condition that the evaluator computes.
    case predicate(Int)

    /// A column as a test reads it.
    struct Operand: Sendable {
        enum Kind: UInt8, Sendable { case int, double, bool, text, foldedText }

        /// The position in the table's shape; -1 for the id.
        let position: Int
        let kind: Kind
    }

    /// Where a text lies in the constants' bytes.
    struct Text: Sendable {
        let offset: Int
        let count: Int
    }

    /// Where a set lies in the constants' words or texts.
    struct Span: Sendable {
        let lower: Int
        let upper: Int
    }

    /// Some of the tags.
    struct Tags: OptionSet, Sendable {
        let rawValue: UInt16
        static let null: Tags = [Tags(.null), Tags(.absent)]

        init(rawValue: UInt16) { self.rawValue = rawValue }
        init(_ tag: RowTag) { rawValue = 1 << tag.rawValue }

        func contains(_ tag: RowTag) -> Bool { rawValue >> tag.rawValue & 1 == 1 }
    }

    /// How two values may lie to each other for a comparison to hold.
    struct Relations: OptionSet, Sendable {
        let rawValue: UInt8
        static let less = Relations(rawValue: 1)
        static let equal = Relations(rawValue: 2)
        static let greater = Relations(rawValue: 4)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Those of a comparison; `!=` is for the caller to turn around.
        init(_ comparison: Predicate.Comparison) {
            switch comparison {
            case .equal, .notEqual: self = .equal
            case .less: self = .less
            case .lessOrEqual: self = [.less, .equal]
            case .greater: self = .greater
            case .greaterOrEqual: self = [.greater, .equal]
            }
        }

        /// Whether values of this order, as `memcmp` tells it, are among them.
        func contains(order: Int) -> Bool {
            contains(order < 0 ? .less : order == 0 ? .equal : .greater)
        }
    }
}

extension RowTest.Operand {
    init(_ column: ColumnReference) {
        position = column.position ?? -1
        switch column.type {
        case .bool: kind = .bool
        case .int, .timestamp: kind = .int
        case .double: kind = .double
        case .string, .bytes, .json: kind = column.folds ? .foldedText : .text
        }
    }

    /// The same column of texts, compared without regard to ASCII case.
    var folded: Self { Self(position: position, kind: .foldedText) }

    var isID: Bool { position < 0 }

    /// The bytes of the value, nil of a null; valid as long as the view points where it does.
    @inline(__always)
    func bytes(in row: borrowing RowView) -> UnsafeRawBufferPointer? {
        // The pointer leaves the closure, but the view, which is borrowed for longer, keeps what it points to.
        if isID { return row.withIDBytes { $0 } }
        let tag = row.tag(at: position)
        return tag == .null || tag == .absent ? nil : row.bytes(at: position)
    }

    /// The word of the number or instant, nil of a null.
    @inline(__always)
    func word(in row: borrowing RowView) -> Int64? {
        let bytes = isID ? row.withIDBytes { $0 } : row.bytes(at: position)
        guard bytes.count == 8 else { return nil }
        let word = Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
        return kind == .double ? WordInterval.word(ofDoubleBits: word) : word
    }
}
