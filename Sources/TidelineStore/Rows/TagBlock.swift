/// What tags and lengths the values of eight neighbouring columns may have, to be checked at once.
///
/// A table of eight columns or more is covered by blocks, the last of which ends with the last column and so may look at
/// some columns a second time.
struct TagBlock: Sendable {
    /// How many columns a block has.
    static let width = 8

    /// The bits of a tag that tell the column's type; a bool has two tags.
    private var typeBits = SIMD8<UInt16>()
    /// What these bits are for a value.
    private var type = SIMD8<UInt16>()
    /// All bits where a value has a fixed length.
    private var lengthBits = SIMD8<UInt16>()
    /// The length of a value, where it is fixed.
    private var length = SIMD8<UInt16>()

    /// The blocks that cover columns of these types; none where there are too few, or where numbers lie in memory
    /// otherwise than in a row.
    static func covering(_ types: [ColumnType]) -> [TagBlock] {
        guard types.count >= width, 1.littleEndian == 1 else { return [] }
        return stride(from: 0, to: types.count, by: width).map { first in
            let first = min(first, types.count - width)
            return TagBlock(Array(types[first..<first + width]))
        }
    }

    private init(_ types: [ColumnType]) {
        for (column, type) in types.enumerated() {
            typeBits[column] = type == .bool ? ~1 : ~0
            switch type {
            case .bool: self.type[column] = UInt16(RowTag.false.rawValue)
            case .int: self.type[column] = UInt16(RowTag.int.rawValue)
            case .double: self.type[column] = UInt16(RowTag.double.rawValue)
            case .string: self.type[column] = UInt16(RowTag.string.rawValue)
            case .timestamp: self.type[column] = UInt16(RowTag.timestamp.rawValue)
            case .bytes: self.type[column] = UInt16(RowTag.bytes.rawValue)
            case .json: self.type[column] = UInt16(RowTag.json.rawValue)
            }
            let hasAnyLength = type == .string || type == .bytes || type == .json
            lengthBits[column] = hasAnyLength ? 0 : ~0
            length[column] = hasAnyLength || type == .bool ? 0 : 8
        }
    }

    /// Whether every tag is one that its column may have, and every value lies behind the one before and is as long as
    /// its tag asks.
    ///
    /// Unsafe pointers: the caller knows that both tables are as long as the blocks cover, and two bytes before `ends` are
    /// the row's, too.
    ///
    /// - Parameters:
    ///   - blocks: Those of the row's shape, at least one.
    ///   - columns: How many columns they cover.
    ///   - tags: A byte for each column.
    ///   - ends: Two bytes for each column.
    @inline(__always)
    static func allow(
        _ blocks: UnsafeBufferPointer<TagBlock>, columns: Int, tags: UnsafeRawPointer, ends: UnsafeRawPointer
    ) -> Bool {
        var first = 0
        var wrong = SIMD8<UInt16>()
        for block in blocks {
            var before = (ends - 2).loadUnaligned(fromByteOffset: first &* 2, as: SIMD8<UInt16>.self)
            if first == 0 { before[0] = 0 }
            wrong |= block.faults(
                tags: tags.loadUnaligned(fromByteOffset: first, as: SIMD8<UInt8>.self), before: before,
                ends: ends.loadUnaligned(fromByteOffset: first &* 2, as: SIMD8<UInt16>.self))
            first = min(first &+ width, columns &- width)
        }
        let words = unsafeBitCast(wrong, to: SIMD2<UInt64>.self)
        return words[0] | words[1] == 0
    }

    /// Zero where a column is as it must be.
    @inline(__always)
    private func faults(
        tags: SIMD8<UInt8>, before: SIMD8<UInt16>, ends: SIMD8<UInt16>
    ) -> SIMD8<UInt16> {
        let (zero, one) = (SIMD8<UInt16>(), SIMD8<UInt16>(repeating: 1))
        let tags = SIMD8<UInt16>(truncatingIfNeeded: tags)
        let lengths = ends &- before
        // Absent and null, which differ in the last bit only.
        let isNull = (tags & ~one) .== zero
        let fits = isNull .| ((tags & typeBits) .== type)
        let bits = lengthBits.replacing(with: ~zero, where: isNull)
        let isLong = (lengths & bits) .== length.replacing(with: zero, where: isNull)
        return one.replacing(with: zero, where: fits .& isLong .& (ends .>= before))
    }
}
