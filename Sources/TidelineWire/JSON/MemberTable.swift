internal import TidelineStore

/// What the name of a row's member stands for: a position in the shape, or one of the numbers after those. The last ones,
/// from that of all unknown names on, are of names that the table does not define.
typealias Member = Int

/// The members of a row's JSON object, and a quick test for the one that is expected next.
struct MemberTable: Sendable {
    private let shape: RowShape
    private var patterns: [Pattern] = []

    /// The bytes `"name":` as two words, filled up with zeros, with masks for the bytes that count.
    private struct Pattern: Equatable {
        /// 0 for a name that is only ever found the general way.
        var length = 0
        var first: UInt64 = 0
        var last: UInt64 = 0
        var firstMask: UInt64 = 0
        var lastMask: UInt64 = 0
    }

    /// The number for `id`.
    let id: Member
    /// The number for `deleted` where the shape has no such column.
    let deleted: Member
    /// The number for what comes before the first member.
    let start: Member
    /// The number for all other names but those learned, which have the numbers behind it.
    let unknown: Member

    /// How many names are learned: more than a server adds to the columns of a table.
    private static let mostLearned = 16

    init(shape: RowShape) {
        self.shape = shape
        id = shape.count
        deleted = shape.count + 1
        start = shape.count + 2
        unknown = shape.count + 3
        patterns = (shape.columns.map(\.name) + ["id", "deleted"]).map { Self.pattern(of: Array($0.utf8)) }
        patterns += [Pattern(), Pattern()]
        // Where the shape has the column, its name stands for that and nothing else.
        if shape.index(of: "deleted") != nil { patterns[deleted] = Pattern() }
    }

    /// What is expected after each member: the order of the shape, until the reader has seen another.
    var initialSuccessors: [Member] { [Member](1...(shape.count + 1)) + [0, 0, 0] }

    /// The length of the bytes `"name":` of `member` if they stand at `offset`, else 0.
    ///
    /// Unsafe pointers: sixteen bytes are loaded where at least sixteen are left; the end of the input is read the
    /// general way.
    @inline(__always)
    func length(of member: Member, in bytes: ByteView, at offset: Int) -> Int {
        guard member < patterns.count, bytes.count - offset >= 16 else { return 0 }
        let pattern = patterns[member]
        let first = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & pattern.firstMask
        let last = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self) & pattern.lastMask
        guard first == pattern.first, last == pattern.last else { return 0 }
        return pattern.length
    }

    /// The member whose name, unescaped, is this.
    func member(named name: UnsafeRawBufferPointer, guess: Member) -> Member {
        if name.elementsEqual("id".utf8) { return id }
        if let index = shape.index(ofUTF8: name, guess: guess) { return index }
        return name.elementsEqual("deleted".utf8) ? deleted : unknown
    }

    /// A number for a name that the table does not define, given without its quotes, so that it is expected from now on
    /// as one that it does: for a few short ones; for all others ``unknown``.
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
        // Names of up to thirteen bytes. Not one with a quote or a backslash in it: its bytes could be those of
        // several tokens.
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
