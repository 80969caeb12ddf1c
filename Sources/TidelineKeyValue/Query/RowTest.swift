internal import TidelineStore

/// A test of a row's bytes. It is false for null unless it tests for null.
///
/// Positions have 32 bits to keep the size small, because a test is read for every row.
enum RowTest: Sendable {
    /// The column's tag is one of these.
    case tags(Operand, Tags)
    /// The word of a number or timestamp is in an interval.
    case word(Operand, WordInterval)
    /// The word is one of these constants.
    case wordIn(Operand, Span)
    /// The text has one of these relations to a constant.
    case text(Operand, Relations, Text)
    /// The text is one of these constants.
    case textIn(Operand, Span)
    /// The text as stored, also for identifiers, begins with a constant.
    case hasPrefix(Operand, Text)
    case hasSuffix(Operand, Text)
    case contains(Operand, Text)
    /// Two columns, neither of them null, have one of these relations.
    case columns(Operand, Relations, Operand)
    /// Both columns are null.
    case nulls(Operand, Operand)
    /// A condition that the evaluator computes; see ``RowFilter``.
    case predicate(Int)

    /// Whether the test reads only the bytes of columns.
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

    /// A column as read by a test.
    struct Operand: Sendable {
        enum Kind: UInt8, Sendable { case int, double, bool, text, foldedText }

        /// The position in the table's shape, or -1 for the identifier.
        let position: Int32
        let kind: Kind
        /// The valid tags of its values.
        let tags: Tags
    }

    /// The location of a text in the constants' bytes.
    struct Text: Sendable {
        let offset: Int
        let count: Int
    }

    /// The location of a set in the constants' words or texts.
    struct Span: Sendable {
        let lower: Int
        let upper: Int
    }

    /// A set of tags.
    struct Tags: OptionSet, Sendable {
        let rawValue: UInt16
        static let null: Tags = [Tags(.null), Tags(.absent)]

        init(rawValue: UInt16) { self.rawValue = rawValue }
        init(_ tag: RowTag) { rawValue = 1 << tag.rawValue }

        /// The valid tags of a column of the given type.
        init(of type: ColumnType) {
            self = (RowTag.absent.rawValue...RowTag.json.rawValue).reduce(into: []) { tags, number in
                guard let tag = RowTag(rawValue: number), tag.fits(type) else { return }
                tags.insert(Self(tag))
            }
        }

        /// Whether the set contains the tag with the given raw value.
        @inline(__always)
        func contains(tag: UInt8) -> Bool { tag < 16 && rawValue &>> UInt16(tag) & 1 == 1 }
    }

    /// The relations of two values for which a comparison holds.
    struct Relations: OptionSet, Sendable {
        let rawValue: UInt8
        static let less = Relations(rawValue: 1)
        static let equal = Relations(rawValue: 2)
        static let greater = Relations(rawValue: 4)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Creates the relations of a comparison. For `!=`, they are those of `==`, and the caller negates the result.
        init(_ comparison: RowPredicate.Comparison) {
            switch comparison {
            case .equal, .notEqual: self = .equal
            case .less: self = .less
            case .lessOrEqual: self = [.less, .equal]
            case .greater: self = .greater
            case .greaterOrEqual: self = [.greater, .equal]
            }
        }

        /// Whether the set contains the relation given by an order as `memcmp` returns it.
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

    /// The same text column, compared without regard to ASCII case.
    var folded: Self { Self(position: position, kind: .foldedText, tags: tags) }

    var isID: Bool { position < 0 }

    /// Returns the raw value of the value's tag.
    @inline(__always)
    func tag(in row: RowBytes) throws(RowDamage) -> UInt8 {
        let tag = row.tag(at: Int(position))
        guard tags.contains(tag: tag) else { throw RowDamage() }
        return tag
    }

    /// Returns the bytes of the value, or `nil` for null.
    @inline(__always)
    func bytes(in row: RowBytes) throws(RowDamage) -> UnsafeRawBufferPointer? {
        if isID { return unsafe row.id }
        return unsafe RowTest.Tags.null.contains(tag: try tag(in: row)) ? nil : try row.value(at: Int(position))
    }

    /// Returns the word of the number or timestamp, or `nil` for null.
    @inline(__always)
    func word(in row: RowBytes) throws(RowDamage) -> Int64? {
        guard let bytes = try unsafe bytes(in: row) else { return nil }
        guard bytes.count == 8 else { throw RowDamage() }
        let word = unsafe Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
        return kind == .double ? WordInterval.word(ofDoubleBits: word) : word
    }
}
