internal import TidelineStore

/// The meaning of a member name of a row: a position in the shape, or one of the numbers after these positions. The
/// numbers from ``MemberTable/unknown`` on represent names that the table does not define.
typealias Member = Int

/// The members of a row's JSON object, with a fast test for the expected next member.
struct MemberTable: Sendable {
    private let shape: RowShape
    private var patterns: [Pattern] = []

    /// The bytes `"name":` as two words, padded with zeros, and masks for the bytes in use.
    private struct Pattern: Equatable {
        /// The length, or 0 for a name without a fast test.
        var length = 0
        var first: UInt64 = 0
        var last: UInt64 = 0
        var firstMask: UInt64 = 0
        var lastMask: UInt64 = 0
    }

    /// The number for `id`.
    let id: Member
    /// The number for `deleted` if the shape has no such column.
    let deleted: Member
    /// The number that represents the position before the first member.
    let start: Member
    /// The number for all other names except learned names, which have the numbers after it.
    let unknown: Member

    /// The member expected after each member: the order of the shape, until the reader has seen another order.
    let initialSuccessors: [Member]

    /// The name of the member with the identifier.
    let idName: String
    private let deletedName: String

    /// The maximum number of learned names. It is greater than the number of columns that servers add to a table.
    private static let mostLearned = 16

    /// - Parameter names: The names of members that differ from those of their columns, by the names of the columns.
    init(shape: RowShape, renaming names: [String: String] = [:]) {
        let columns = shape.columns.map { column in
            var column = column
            column.name = names[column.name] ?? column.name
            return column
        }
        self.shape = names.isEmpty ? shape : RowShape(columns: columns)
        (idName, deletedName) = (names["id"] ?? "id", names["deleted"] ?? "deleted")
        id = shape.count
        deleted = shape.count + 1
        start = shape.count + 2
        unknown = shape.count + 3
        initialSuccessors = [Member](1...(shape.count + 1)) + [0, 0, 0]
        patterns = (columns.map(\.name) + [idName, deletedName]).map { Self.pattern(of: Array($0.utf8)) }
        patterns += [Pattern(), Pattern()]
        // If the shape has a column `deleted`, the name always refers to that column.
        if self.shape.index(of: deletedName) != nil { patterns[deleted] = Pattern() }
    }

    /// Returns the length of the bytes `"name":` of `member` if they are at `offset`, otherwise 0.
    ///
    /// Unsafe pointers: sixteen bytes are loaded only if at least sixteen bytes are left. The general function reads
    /// names at the end of the input.
    @inline(__always)
    func length(of member: Member, in bytes: ByteView, at offset: Int) -> Int {
        guard member < patterns.count, bytes.count - offset >= 16 else { return 0 }
        let pattern = patterns[member]
        let first = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & pattern.firstMask
        let last = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self) & pattern.lastMask
        guard first == pattern.first, last == pattern.last else { return 0 }
        return pattern.length
    }

    /// Returns the member with the given unescaped name.
    func member(named name: UnsafeRawBufferPointer, guess: Member) -> Member {
        if name.elementsEqual(idName.utf8) { return id }
        if let index = shape.index(ofUTF8: name, guess: guess) { return index }
        return name.elementsEqual(deletedName.utf8) ? deleted : unknown
    }

    /// Returns the column whose member's name differs from the given one only in the case of ASCII letters, or `nil`.
    ///
    /// - Parameter columns: The positions of the columns to search, besides `id`.
    func place(like name: UnsafeRawBufferPointer, in columns: Range<Int>) -> JSONFault.Place? {
        func isLike(_ other: String) -> Bool {
            let other = other.utf8
            return other.count == name.count && zip(other, name).allSatisfy { $0.asciiFolded == $1.asciiFolded }
        }
        if isLike(idName) { return .id }
        return columns.first { isLike(shape.columns[$0].name) }.map { .column($0) }
    }

    /// Returns the name of the member of a column or of `id`.
    func name(of place: JSONFault.Place) -> String {
        if case .column(let index) = place { return shape.columns[index].name }
        return idName
    }

    /// Returns a number for a name, given without quotes, that the table does not define. The fast test recognizes the
    /// name from then on. Only a few short names get such a number; the result for all others is ``unknown``.
    mutating func learn(_ name: UnsafeRawBufferPointer) -> Member {
        let pattern = Self.pattern(of: Array(name))
        guard pattern.length > 0 else { return unknown }
        if let member = patterns[unknown...].firstIndex(of: pattern) { return member }
        guard patterns.count <= unknown + Self.mostLearned else { return unknown }
        patterns.append(pattern)
        return patterns.count - 1
    }

    private static func pattern(of name: [UInt8]) -> Pattern {
        let bytes = [UInt8(ascii: "\"")] + name + [UInt8(ascii: "\""), UInt8(ascii: ":")]
        // Names of up to thirteen bytes. Names with a quote or a backslash are excluded, because their bytes could be
        // those of several tokens.
        let isPlain = name.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard bytes.count <= 16, isPlain else { return Pattern() }
        func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
            let word = bytes.prefix(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            return UInt64(littleEndian: word)
        }
        let ones = bytes.map { _ in UInt8.max }
        return Pattern(
            length: bytes.count, first: word(bytes), last: word(bytes.dropFirst(8)), firstMask: word(ones),
            lastMask: word(ones.dropFirst(8)))
    }
}
