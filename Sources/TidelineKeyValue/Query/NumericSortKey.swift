internal import TidelineStore

/// The first order term, if it is a column of numbers or timestamps. It usually determines a row's position before its
/// sort key is built.
struct NumericSortKey: Sendable {
    private let operand: ColumnOperand
    private let isDescending: Bool

    /// Creates a term, or returns `nil` for a column of another type or `id`.
    init?(_ column: ColumnReference, isDescending: Bool) {
        guard column.position != nil, column.type.isWord else { return nil }
        operand = ColumnOperand(column)
        self.isDescending = isDescending
    }

    /// A component of a sort key, see ``KeyBuilder``: its first byte and, for a value, the following eight.
    struct Place: Comparable, Sendable {
        let mark: UInt8
        let word: UInt64

        init(mark: UInt8, word: UInt64) {
            self.mark = mark
            self.word = word
        }

        /// Reads the first component of a key.
        init(atStartOf key: UnsafeRawBufferPointer) {
            mark = unsafe key.first ?? 0
            let isValue = mark == KeyBuilder.Mark.value || mark == ~KeyBuilder.Mark.value
            word =
                unsafe isValue && key.count >= 9
                ? UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)) : 0
        }

        @inline(__always)
        static func < (a: Self, b: Self) -> Bool { a.mark != b.mark ? a.mark < b.mark : a.word < b.word }
    }

    /// Returns the sort key component of a row.
    @inline(__always)
    func place(of row: RowBytes) throws(RowDamage) -> Place {
        guard let word = try operand.word(in: row) else { return place(KeyBuilder.Mark.null) }
        guard operand.kind != .double || WordInterval.doubles.contains(word) else {
            return place(KeyBuilder.Mark.notANumber)
        }
        let ordered = KeyBuilder.ordered(word)
        return isDescending
            ? Place(mark: ~KeyBuilder.Mark.value, word: ~ordered) : Place(mark: KeyBuilder.Mark.value, word: ordered)
    }

    private func place(_ mark: UInt8) -> Place { Place(mark: isDescending ? ~mark : mark, word: 0) }
}
