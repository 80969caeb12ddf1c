internal import TidelineStore

/// What the name of a row's member stands for: a position in the shape, or one of the numbers after those.
typealias Member = Int

/// The members of a row's JSON object, and a quick test for the one that is expected next.
struct MemberTable: Sendable {
    private let shape: RowShape
    /// The bytes `"name":` of every member, in words, the last one filled with zeros.
    private var words: [UInt64] = []
    private var patterns: [Pattern] = []

    private struct Pattern {
        var firstWord: Int
        var wordCount: Int
        var length: Int
        /// The bytes of the last word that count.
        var mask: UInt64
    }

    /// The number for `id`.
    let id: Member
    /// The number for `deleted` where the shape has no such column.
    let deleted: Member
    /// The number for all other names.
    let unknown: Member
    /// The number for what comes before the first member.
    let start: Member

    init(shape: RowShape) {
        self.shape = shape
        id = shape.count
        deleted = shape.count + 1
        unknown = shape.count + 2
        start = shape.count + 3
        for column in shape.columns { addPattern(column.name) }
        addPattern("id")
        addPattern("deleted")
        // Where the shape has the column, its name stands for that and nothing else.
        if shape.index(of: "deleted") != nil { patterns[deleted].length = 0 }
    }

    /// What is expected first in a row: the order of the shape, until ``PageReader`` has seen another.
    var initialSuccessors: [Member] {
        [Member](1...(shape.count + 1)) + [0, 0, 0]
    }

    /// The length of the bytes `"name":` of `member` if they stand at `offset`, else 0.
    @inline(__always)
    func length(of member: Member, in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        guard member < patterns.count else { return 0 }
        let pattern = patterns[member]
        // Whole words are loaded, so that the end of the input is left to the general way.
        guard bytes.count - offset >= pattern.wordCount * 8 else { return 0 }
        let last = pattern.wordCount - 1
        for index in 0..<last {
            let word = bytes.loadUnaligned(fromByteOffset: offset + index * 8, as: UInt64.self)
            guard word == words[pattern.firstWord + index] else { return 0 }
        }
        let word = bytes.loadUnaligned(fromByteOffset: offset + last * 8, as: UInt64.self)
        return word & pattern.mask == words[pattern.firstWord + last] ? pattern.length : 0
    }

    /// The member whose name, unescaped, is this.
    func member(named name: UnsafeRawBufferPointer, guess: Member) -> Member {
        if name.elementsEqual("id".utf8) { return id }
        if let index = shape.index(ofUTF8: name, guess: guess) { return index }
        return name.elementsEqual("deleted".utf8) ? deleted : unknown
    }

    private mutating func addPattern(_ name: String) {
        let bytes = Array("\"\(name)\":".utf8)
        var pattern = Pattern(
            firstWord: words.count, wordCount: (bytes.count + 7) / 8, length: bytes.count, mask: .max)
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let part = bytes[start..<min(start + 8, bytes.count)]
            let filled = Array(part) + Array(repeating: 0, count: 8 - part.count)
            words.append(filled.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
            if part.count < 8 {
                pattern.mask = UInt64(littleEndian: 1 << UInt64(part.count * 8) - 1)
            }
        }
        // A name with a quote or a backslash in it is never found this way: its bytes could match what is two tokens.
        if name.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 < 0x20 }) {
            pattern.length = 0
        }
        patterns.append(pattern)
    }
}
