internal import TidelineStore

/// Elements in the order of their keys, in chunks.
///
/// A change copies one chunk and the list of chunks if another copy of the list exists. A view of 100,000 rows can
/// therefore be changed and passed on for each commit.
struct KeyedList<Element: Sendable>: Sendable {
    /// An element with its key. A reference, because a change copies the entries of a chunk if another copy of the list
    /// exists.
    final class Entry: Sendable {
        let key: RowOrder.Key
        let element: Element
        /// Equal for rows with equal content.
        let fingerprint: Int

        init(key: RowOrder.Key, element: Element, fingerprint: Int) {
            (self.key, self.element, self.fingerprint) = (key, element, fingerprint)
        }
    }

    let order: RowOrder
    private var chunks: [[Entry]] = []
    /// The position of the first entry of each chunk.
    private var starts: [Int] = []
    private(set) var count = 0

    private static var maximumChunk: Int { 256 }

    /// Creates a list of entries that are in order.
    init(order: RowOrder, sorted entries: [Entry]) {
        self.order = order
        let size = Self.maximumChunk / 2
        chunks = stride(from: 0, to: entries.count, by: size).map { start in
            Array(entries[start..<min(start + size, entries.count)])
        }
        renumber(from: 0)
    }

    subscript(position: Int) -> Entry {
        // The last chunk that does not start after the position.
        let chunk = starts.partitioningIndex { $0 > position } - 1
        return chunks[chunk][position - starts[chunk]]
    }

    /// Returns the position of a key, or `nil` if there is none.
    func position(of key: RowOrder.Key) -> Int? {
        let (chunk, offset) = place(of: key)
        guard holds(key, chunk, offset) else { return nil }
        return starts[chunk] + offset
    }

    /// Returns the position that a key has, or would have.
    func insertionPosition(of key: RowOrder.Key) -> Int {
        let (chunk, offset) = place(of: key)
        return chunk < chunks.count ? starts[chunk] + offset : count
    }

    /// Inserts an entry whose key is not in the list.
    mutating func insert(_ entry: Entry) {
        guard !chunks.isEmpty else {
            chunks = [[entry]]
            return renumber(from: 0)
        }
        var (chunk, offset) = place(of: entry.key)
        if chunk == chunks.count { (chunk, offset) = (chunk - 1, chunks[chunk - 1].count) }
        chunks[chunk].insert(entry, at: offset)
        if chunks[chunk].count > Self.maximumChunk {
            let half = chunks[chunk].count / 2
            chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
            chunks[chunk].removeSubrange(half...)
        }
        renumber(from: chunk)
    }

    /// Removes a key and returns its entry, or `nil` if there is none.
    @discardableResult
    mutating func remove(_ key: RowOrder.Key) -> Entry? {
        let (chunk, offset) = place(of: key)
        guard holds(key, chunk, offset) else { return nil }
        let entry = chunks[chunk].remove(at: offset)
        if chunks[chunk].isEmpty {
            chunks.remove(at: chunk)
        } else if chunk + 1 < chunks.count, chunks[chunk].count + chunks[chunk + 1].count < Self.maximumChunk / 2 {
            chunks[chunk] += chunks.remove(at: chunk + 1)
        }
        renumber(from: chunk)
        return entry
    }

    /// Removes all entries from a position on.
    mutating func truncate(to newCount: Int) {
        guard newCount < count else { return }
        while let start = starts.last, start >= newCount {
            chunks.removeLast()
            starts.removeLast()
        }
        if let start = starts.last { chunks[chunks.count - 1].removeSubrange((newCount - start)...) }
        count = newCount
    }

    /// Returns the chunk and the offset of the first entry that does not precede a key.
    private func place(of key: RowOrder.Key) -> (chunk: Int, offset: Int) {
        let chunk = chunks.partitioningIndex { !order.precedes($0[$0.count - 1].key, key) }
        guard chunk < chunks.count else { return (chunk, 0) }
        return (chunk, chunks[chunk].partitioningIndex { !order.precedes($0.key, key) })
    }

    private func holds(_ key: RowOrder.Key, _ chunk: Int, _ offset: Int) -> Bool {
        chunk < chunks.count && !order.precedes(key, chunks[chunk][offset].key)
    }

    private mutating func renumber(from chunk: Int) {
        starts.removeSubrange(min(chunk, starts.count)...)
        var start = starts.count == 0 ? 0 : starts[starts.count - 1] + chunks[starts.count - 1].count
        for index in starts.count..<chunks.count {
            starts.append(start)
            start += chunks[index].count
        }
        count = start
    }
}

extension RowOrder {
    /// Returns whether two keys have different places.
    func areDifferent(_ a: Key, _ b: Key) -> Bool { precedes(a, b) || precedes(b, a) }
}

extension Array {
    /// Returns the first index whose element satisfies a condition that holds from some index on.
    func partitioningIndex(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Row {
    /// A number that is equal for rows with equal content.
    var fingerprint: Int {
        let known = withPackedColumns { row in
            unsafe row.withPackedBytes { bytes in
                var hasher = Hasher()
                unsafe hasher.combine(bytes: bytes)
                return hasher.finalize()
            }
        }
        return known ?? columnFingerprint
    }

    /// The number for a row with selected columns. Equal hashes of values do not suffice: null and no bytes have the
    /// same.
    private var columnFingerprint: Int {
        var hasher = Hasher()
        for (name, value) in values {
            hasher.combine(name)
            hasher.combine(value.type)
            if case .double(let number) = value { hasher.combine(number.bitPattern) } else { hasher.combine(value) }
        }
        return hasher.finalize()
    }
}
