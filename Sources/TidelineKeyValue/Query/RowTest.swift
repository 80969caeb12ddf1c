internal import TidelineStore

/// One question to a row's bytes. Of a null, it is false unless it asks for nulls.
///
/// Small, as it is read anew for every row: hence the 32-bit positions.
enum RowTest: Sendable {
    /// The column's tag is one of these.
    case tags(Operand, Tags)
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
    case nulls(Operand, Operand)
    /// A condition that the evaluator computes; see ``RowFilter``.
    case predicate(Int)

    /// Whether the bytes of columns are all that is asked for.
    var readsColumnsOnly: Bool {
        switch self {
        case .predicate: false
        case .columns(let a, _, let b): !a.isID && !b.isID
        case .tags(let operand, _), .word(let operand, _), .wordIn(let operand, _), .text(let operand, _, _),
            .textIn(let operand, _), .hasPrefix(let operand, _), .hasSuffix(let operand, _), .contains(let operand, _):
            !operand.isID
        case .nulls: true
        }
    }

    /// A column as a test reads it.
    struct Operand: Sendable {
        enum Kind: UInt8, Sendable { case int, double, bool, text, foldedText }

        /// The position in the table's shape; -1 for the id.
        let position: Int32
        let kind: Kind
        /// What tags its values may have.
        let tags: Tags
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

        /// Those that a column of that type may have.
        init(of type: ColumnType) {
            self = (RowTag.absent.rawValue...RowTag.json.rawValue).reduce(into: []) { tags, number in
                guard let tag = RowTag(rawValue: number), tag.fits(type) else { return }
                tags.insert(Self(tag))
            }
        }

        /// Whether the tag of that number is among them.
        @inline(__always)
        func contains(tag: UInt8) -> Bool { tag < 16 && rawValue &>> UInt16(tag) & 1 == 1 }
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
        position = Int32(column.position ?? -1)
        switch column.type {
        case .bool: kind = .bool
        case .int, .timestamp: kind = .int
        case .double: kind = .double
        case .string, .bytes, .json: kind = column.folds ? .foldedText : .text
        }
        tags = RowTest.Tags(of: column.type)
    }

    /// The same column of texts, compared without regard to ASCII case.
    var folded: Self { Self(position: position, kind: .foldedText, tags: tags) }

    var isID: Bool { position < 0 }

    /// The number of the value's tag.
    @inline(__always)
    func tag(in row: RowBytes) throws(RowDamage) -> UInt8 {
        let tag = row.tag(at: Int(position))
        guard tags.contains(tag: tag) else { throw RowDamage() }
        return tag
    }

    /// The bytes of the value, nil of a null.
    @inline(__always)
    func bytes(in row: RowBytes) throws(RowDamage) -> UnsafeRawBufferPointer? {
        if isID { return row.id }
        return RowTest.Tags.null.contains(tag: try tag(in: row)) ? nil : try row.value(at: Int(position))
    }

    /// The word of the number or instant, nil of a null.
    @inline(__always)
    func word(in row: RowBytes) throws(RowDamage) -> Int64? {
        guard let bytes = try bytes(in: row) else { return nil }
        guard bytes.count == 8 else { throw RowDamage() }
        let word = Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
        return kind == .double ? WordInterval.word(ofDoubleBits: word) : word
    }
}
