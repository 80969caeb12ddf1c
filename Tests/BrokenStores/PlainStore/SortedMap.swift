internal import Foundation

/// Elements in the byte order of their keys. Changes move few of them; copies share unchanged chunks.
struct SortedMap<Element: Sendable>: Sendable {
    typealias Entry = (key: [UInt8], element: Element)

    private static var maximumChunk: Int { 256 }
    private var chunks: [[Entry]] = []
    private(set) var count = 0

    subscript(key: [UInt8]) -> Element? {
        get {
            guard let (chunk, index) = place(of: key), isKey(key, at: chunk, index) else { return nil }
            return chunks[chunk][index].element
        }
        set {
            guard let (chunk, index) = place(of: key) else {
                if let newValue { insert((key, newValue), at: 0, 0) }
                return
            }
            switch (isKey(key, at: chunk, index), newValue) {
            case (true, let element?): chunks[chunk][index].element = element
            case (true, nil): remove(at: chunk, index)
            case (false, let element?): insert((key, element), at: chunk, index)
            case (false, nil): break
            }
        }
    }

    /// All entries, in order.
    var entries: [Entry] { Array(chunks.joined()) }

    /// Returns the entries whose keys are at least `lower` and, if it is not `nil`, less than `upper`.
    func entries(from lower: [UInt8], below upper: [UInt8]?) -> [Entry] {
        guard let (first, index) = place(of: lower) else { return [] }
        var found: [Entry] = []
        var start = index
        for chunk in chunks[first...] {
            for entry in chunk[start...] {
                if let upper, !comesFirst(entry.key, upper) { return found }
                found.append(entry)
            }
            start = 0
        }
        return found
    }

    /// Returns the chunk of a key and the position of the first key that is not less, or `nil` if no chunk exists.
    private func place(of key: [UInt8]) -> (chunk: Int, index: Int)? {
        guard !chunks.isEmpty else { return nil }
        let chunk = max(chunks.lowerBound { !comesFirst(key, $0[0].key) } - 1, 0)
        let index = chunks[chunk].lowerBound { comesFirst($0.key, key) }
        return (chunk, index)
    }

    private func isKey(_ key: [UInt8], at chunk: Int, _ index: Int) -> Bool {
        index < chunks[chunk].count && chunks[chunk][index].key == key
    }

    private mutating func insert(_ entry: Entry, at chunk: Int, _ index: Int) {
        count += 1
        guard !chunks.isEmpty else { return chunks.append([entry]) }
        chunks[chunk].insert(entry, at: index)
        guard chunks[chunk].count > Self.maximumChunk else { return }
        let half = chunks[chunk].count / 2
        chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
        chunks[chunk].removeSubrange(half...)
    }

    private mutating func remove(at chunk: Int, _ index: Int) {
        count -= 1
        chunks[chunk].remove(at: index)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }
}

/// Returns whether one sequence of bytes sorts before another. A prefix sorts before a longer sequence.
func comesFirst(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    let order = memcmp(a, b, min(a.count, b.count))
    return order == 0 ? a.count < b.count : order < 0
}

extension Array {
    /// Returns the number of first elements that satisfy a condition, which must hold only for a prefix of the array.
    fileprivate func lowerBound(where isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
