internal import TidelineStore

/// The ids of one answer, to find two that are the same.
///
/// An open hash table of row numbers; ids are compared in the batch itself, only where the hashes are the same.
struct IDSet {
    /// The hash of every row taken in.
    private var hashes: [UInt64] = []
    /// Where in `hashes` the row of a place is, plus one; 0 is a free place. At most half are taken.
    private var places: [UInt32]
    private let hasher: IDHasher
    /// The position in the batch of the first row taken in.
    private let firstRow: Int

    /// A set for the rows from position `firstRow` on, of which about `count` are expected.
    init(matching: IDMatching, firstRow: Int, expecting count: Int) {
        hasher = IDHasher(matching: matching)
        self.firstRow = firstRow
        var size = 64
        while size < count * 2 { size *= 2 }
        places = Array(repeating: 0, count: size)
        hashes.reserveCapacity(count)
    }

    /// A hash that is the same for ids that are the same.
    @inline(__always)
    func hash(_ id: UnsafeRawBufferPointer) -> UInt64 { hasher.hash(id) }

    /// Takes in the last row of `rows`; false when an earlier one taken in has the same id.
    mutating func insertLast(_ hash: UInt64, of rows: borrowing PackedRows) -> Bool {
        if hashes.count * 2 >= places.count { grow() }
        let row = rows.count - 1
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while places[place] != 0 {
            let other = Int(places[place]) - 1
            if hashes[other] == hash, areSame(row, firstRow + other, in: rows) { return false }
            place = (place + 1) & (places.count - 1)
        }
        hashes.append(hash)
        places[place] = UInt32(hashes.count)
        return true
    }

    private mutating func grow() {
        places = Array(repeating: 0, count: places.count * 2)
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
