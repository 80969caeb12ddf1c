/// A column of packed rows, with the meaning of its bytes in a condition or an order.
@usableFromInline
package struct ColumnOperand: Sendable {
    @usableFromInline
    package enum Kind: UInt8, Sendable { case int, double, bool, text, foldedText }

    /// The position in the table's shape, or -1 for the identifier. It has 32 bits to keep the tests of a filter small.
    @usableFromInline let position: Int32
    @usableFromInline package let kind: Kind
    /// The valid tags of the column's values.
    @usableFromInline let tags: TagSet

    init(position: Int32, kind: Kind, tags: TagSet) {
        self.position = position
        self.kind = kind
        self.tags = tags
    }

    package init(_ column: ColumnReference) {
        position = Int32(column.position ?? -1)
        switch column.type {
        case .bool: kind = .bool
        case .int, .timestamp: kind = .int
        case .double: kind = .double
        case .string, .bytes, .json: kind = column.folds ? .foldedText : .text
        }
        tags = TagSet(of: column.type)
    }

    /// The same text column, compared without regard to ASCII case.
    var folded: Self { Self(position: position, kind: .foldedText, tags: tags) }

    @inlinable var isID: Bool { position < 0 }

    /// Returns the raw value of the value's tag.
    @inlinable
    @inline(__always)
    func tag(in row: RowBytes) throws(RowDamage) -> UInt8 {
        let tag = row.tag(at: Int(position))
        guard tags.contains(tag: tag) else { throw RowDamage() }
        return tag
    }

    /// Returns the bytes of the value, or `nil` for null.
    @inlinable
    @inline(__always)
    func bytes(in row: RowBytes) throws(RowDamage) -> UnsafeRawBufferPointer? {
        if isID { return unsafe row.id }
        return unsafe TagSet.null.contains(tag: try tag(in: row)) ? nil : try row.value(at: Int(position))
    }

    /// Returns the word of the number or timestamp, or `nil` for null.
    @inlinable
    @inline(__always)
    package func word(in row: RowBytes) throws(RowDamage) -> Int64? {
        guard let bytes = try unsafe bytes(in: row) else { return nil }
        guard bytes.count == 8 else { throw RowDamage() }
        let word = unsafe bytes.word
        return kind == .double ? WordInterval.word(ofDoubleBits: word) : word
    }

    /// Returns the order of this column's value relative to another's: negative, zero, or positive; `nil` if one is
    /// null or NaN.
    func order(to other: Self, in row: RowBytes) throws(RowDamage) -> Int? {
        switch kind {
        case .int, .double:
            guard let a = try word(in: row), let b = try other.word(in: row) else { return nil }
            if kind == .double, a.isNotANumber || b.isNotANumber { return nil }
            return a < b ? -1 : a == b ? 0 : 1
        case .bool:
            let (a, b) = (try tag(in: row), try other.tag(in: row))
            guard !TagSet.null.contains(tag: a), !TagSet.null.contains(tag: b) else { return nil }
            return Int(a) - Int(b)
        case .text, .foldedText:
            guard let a = try unsafe bytes(in: row), let b = try unsafe other.bytes(in: row) else { return nil }
            return unsafe a.order(to: b, folding: kind == .foldedText || other.kind == .foldedText, bothSides: true)
        }
    }
}

extension Int64 {
    /// Whether this is the word of NaN.
    fileprivate var isNotANumber: Bool { !WordInterval.doubles.contains(self) }
}
