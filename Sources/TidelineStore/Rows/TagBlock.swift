/// The valid tags and lengths of the values of eight adjacent columns, which are checked at once.
///
/// Blocks cover the columns of a table with eight or more columns. The last block ends with the last column and may
/// therefore overlap the previous one.
struct TagBlock: Sendable {
    /// The number of columns in a block.
    static let width = 8

    /// The bits of a tag that determine the column's type. A bool has two tags.
    private var typeBits = SIMD8<UInt16>()
    /// The expected value of these bits.
    private var type = SIMD8<UInt16>()
    /// All bits set for columns whose values have a fixed length.
    private var lengthBits = SIMD8<UInt16>()
    /// The length of a value, if it is fixed.
    private var length = SIMD8<UInt16>()

    /// Returns the blocks that cover columns of these types.
    ///
    /// The result is empty if there are too few columns or the platform is not little-endian.
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
            // That of a bool is the tag of false.
            self.type[column] = UInt16((RowTag.all.first { $0.type == type } ?? .absent).rawValue)
            lengthBits[column] = type == .bool || type.isWord ? ~0 : 0
            length[column] = type.isWord ? 8 : 0
        }
    }

    /// Returns whether every tag is valid for its column, and every value follows the previous one with the length that
    /// its tag requires.
    ///
    /// Unsafe pointers: the caller guarantees that both tables are as long as the blocks cover, and that the two bytes
    /// before `ends` belong to the row.
    ///
    /// - Parameters:
    ///   - blocks: The blocks of the row's shape, at least one.
    ///   - columns: The number of columns that they cover.
    ///   - tags: One byte for each column.
    ///   - ends: Two bytes for each column.
    @inline(__always)
    static func allow(
        _ blocks: UnsafeBufferPointer<TagBlock>, columns: Int, tags: UnsafeRawPointer, ends: UnsafeRawPointer
    ) -> Bool {
        var first = 0
        var wrong = SIMD8<UInt16>()
        for index in blocks.indices {
            var before = unsafe (ends - 2).loadUnaligned(fromByteOffset: first &* 2, as: SIMD8<UInt16>.self)
            if first == 0 { before[0] = 0 }
            unsafe wrong |= blocks[index].faults(
                tags: tags.loadUnaligned(fromByteOffset: first, as: SIMD8<UInt8>.self), before: before,
                ends: ends.loadUnaligned(fromByteOffset: first &* 2, as: SIMD8<UInt16>.self))
            first = min(first &+ width, columns &- width)
        }
        let words = unsafe unsafeBitCast(wrong, to: SIMD2<UInt64>.self)
        return words[0] | words[1] == 0
    }

    /// Returns zero for each valid column.
    @inline(__always)
    private func faults(
        tags: SIMD8<UInt8>, before: SIMD8<UInt16>, ends: SIMD8<UInt16>
    ) -> SIMD8<UInt16> {
        let (zero, one) = (SIMD8<UInt16>(), SIMD8<UInt16>(repeating: 1))
        let tags = SIMD8<UInt16>(truncatingIfNeeded: tags)
        let lengths = ends &- before
        // Absent and null differ only in the last bit.
        let isNull = (tags & ~one) .== zero
        let fits = isNull .| ((tags & typeBits) .== type)
        let bits = lengthBits.replacing(with: ~zero, where: isNull)
        let isLong = (lengths & bits) .== length.replacing(with: zero, where: isNull)
        return one.replacing(with: zero, where: fits .& isLong .& (ends .>= before))
    }
}
