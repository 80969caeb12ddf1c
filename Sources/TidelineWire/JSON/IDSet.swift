internal import TidelineStore

/// The ids of one response, for detecting duplicates.
///
/// An open-addressing hash table of row numbers. If two hashes are equal, the ids are compared in the batch itself.
struct IDSet {
    /// The hash of each inserted row.
    private var hashes: [UInt64] = []
    /// For each slot, the index in `hashes` plus one, or 0 if the slot is free. At most half of the slots are used.
    private var places: [UInt32]
    private let hasher: IDHasher
    /// The position in the batch of the first inserted row.
    private let firstRow: Int

    private static let minimumSize = 64

    /// Creates a set for the rows from position `firstRow`, with capacity for about `count` rows.
    init(matching: TableSchema.IDMatching, firstRow: Int, expecting count: Int) {
        hasher = IDHasher(matching: matching)
        self.firstRow = firstRow
        places = []
        guard count > 0 else { return }
        var size = Self.minimumSize
        while size < count * 2 { size *= 2 }
        places = Array(repeating: 0, count: size)
        hashes.reserveCapacity(count)
    }

    /// Returns a hash that is equal for equal ids.
    @inline(__always)
    func hash(_ id: UnsafeRawBufferPointer) -> UInt64 { hasher.hash(id) }

    /// Inserts the last row of `rows`.
    ///
    /// - Returns: The position of an inserted row that has the same id already, or `nil`.
    mutating func insertLast(_ hash: UInt64, of rows: borrowing PackedRows) -> Int? {
        if hashes.count * 2 >= places.count { grow() }
        let row = rows.count - 1
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while places[place] != 0 {
            let other = Int(places[place]) - 1
            if hashes[other] == hash, areSame(row, firstRow + other, in: rows) {
                // The numbers of later rows depend on this one's.
                hashes.append(hash)
                return firstRow + other
            }
            place = (place + 1) & (places.count - 1)
        }
        hashes.append(hash)
        places[place] = UInt32(hashes.count)
        return nil
    }

    private mutating func grow() {
        places = Array(repeating: 0, count: max(places.count * 2, Self.minimumSize))
        for (index, hash) in hashes.enumerated() {
            var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
            while places[place] != 0 { place = (place + 1) & (places.count - 1) }
            places[place] = UInt32(index + 1)
        }
    }

    private func areSame(_ a: Int, _ b: Int, in rows: borrowing PackedRows) -> Bool {
        rows.withRow(at: a) { a in
            a.withIDBytes { a in
                rows.withRow(at: b) { b in
                    b.withIDBytes { b in hasher.areSame(a, b) }
                }
            }
        }
    }
}
