/// Merges two texts that were changed from a common ancestor: by line, and lines that both changed by word.
///
/// The merge is that of `diff3`. The parts of the ancestor that both texts still have divide the texts into pieces, and
/// a piece that only one text changed is taken from that text.
enum TextMerge {
    static func merge(base: String, local: String, server: String) -> String {
        let lines = merge(Self.lines(of: base), Self.lines(of: local), Self.lines(of: server)) { base, local, server in
            guard !base.isEmpty else { return added(local, server) }
            let words = merge(Self.words(of: base), Self.words(of: local), Self.words(of: server)) { _, local, server in
                // Both sides changed these words.
                server + local
            }
            return [Array(words.joined())]
        }
        return text(of: lines)
    }

    /// Merges lines that both sides added at the same place. Lines that both have occur once.
    private static func added(_ local: [Token], _ server: [Token]) -> [Token] {
        let (mine, theirs) = (local.endingLine, server.endingLine)
        let common = zip(mine, matches(mine, theirs)).compactMap { $1 == nil ? nil : $0 }
        var lines = common.isEmpty ? theirs + mine : merge(common, mine, theirs) { $2 + $1 }
        let isOpen = mine != local || theirs != server
        if isOpen, let last = lines.popLast() { lines.append(Array(last.dropLast())) }
        return lines
    }

    /// A line or word. Its bytes are compared, as canonically equivalent texts are different texts.
    typealias Token = [UInt8]

    /// The maximum number of elements of two sequences that are compared. Time and memory of a comparison can grow with
    /// its square, to 64 MB.
    static let maximumCount = 4_000

    /// Merges three sequences.
    ///
    /// - Parameter resolve: Returns the merge of a piece that both sides changed differently.
    static func merge(
        _ base: [Token], _ local: [Token], _ server: [Token],
        resolve: (_ base: [Token], _ local: [Token], _ server: [Token]) -> [Token]
    ) -> [Token] {
        let (inLocal, inServer) = (matches(base, local), matches(base, server))
        var merged: [Token] = []
        var (b, l, s) = (0, 0, 0)
        func append(_ base: ArraySlice<Token>, _ local: ArraySlice<Token>, _ server: ArraySlice<Token>) {
            if local == base || local == server {
                merged += server
            } else if server == base {
                merged += local
            } else {
                merged += resolve(Array(base), Array(local), Array(server))
            }
        }
        for index in base.indices {
            guard let atLocal = inLocal[index], let atServer = inServer[index] else { continue }
            append(base[b..<index], local[l..<atLocal], server[s..<atServer])
            merged.append(base[index])
            (b, l, s) = (index + 1, atLocal + 1, atServer + 1)
        }
        append(base[b...], local[l...], server[s...])
        return merged
    }

    /// Returns the index in `other` of each element of `base` that `other` still has, or `nil`.
    private static func matches(_ base: [Token], _ other: [Token]) -> [Int?] {
        var matches = [Int?](repeating: nil, count: base.count)
        var start = 0
        while start < base.count, start < other.count, base[start] == other[start] {
            matches[start] = start
            start += 1
        }
        var (end, otherEnd) = (base.count, other.count)
        while end > start, otherEnd > start, base[end - 1] == other[otherEnd - 1] {
            (end, otherEnd) = (end - 1, otherEnd - 1)
            matches[end] = otherEnd
        }
        // An element that only one of them has matches nothing.
        let common = Set(base[start..<end]).intersection(other[start..<otherEnd])
        let old = (start..<end).filter { common.contains(base[$0]) }
        let new = (start..<otherEnd).filter { common.contains(other[$0]) }
        guard old.count + new.count <= maximumCount else { return matches }
        let changes = new.map { other[$0] }.difference(from: old.map { base[$0] })
        var (removed, inserted) = (Set<Int>(), Set<Int>())
        for change in changes {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        let kept = old.indices.lazy.filter { !removed.contains($0) }
        let found = new.indices.lazy.filter { !inserted.contains($0) }
        for (index, place) in zip(kept, found) { matches[old[index]] = new[place] }
        return matches
    }

    // MARK: Tokens

    fileprivate static let lineFeed = UInt8(ascii: "\n")

    /// Returns the lines of a text, each with its line feed.
    static func lines(of text: String) -> [Token] {
        let parts = text.utf8.split(separator: lineFeed, omittingEmptySubsequences: false)
        var lines: [Token] = parts.map { Array($0) + [lineFeed] }
        // No line feed ends the last part, which is not a line if it is empty.
        if let last = lines.popLast(), last.count > 1 { lines.append(Array(last.dropLast())) }
        return lines
    }

    /// Returns the words of lines, and each character between them.
    static func words(of lines: [Token]) -> [Token] {
        var words: [Token] = []
        var isWord = false
        for character in text(of: lines) {
            let continues = isWord && character.isWordPart
            if continues {
                words[words.count - 1] += character.utf8
            } else {
                words.append(Array(character.utf8))
            }
            isWord = character.isWordPart
        }
        return words
    }

    private static func text(of tokens: [Token]) -> String { String(decoding: Array(tokens.joined()), as: UTF8.self) }
}

extension [TextMerge.Token] {
    /// The lines, of which the last one ends with a line feed, too.
    fileprivate var endingLine: Self {
        guard let last, last.last != TextMerge.lineFeed else { return self }
        var lines = self
        lines[lines.count - 1].append(TextMerge.lineFeed)
        return lines
    }
}

extension Character {
    fileprivate var isWordPart: Bool { isLetter || isNumber }
}
