internal import TidelineStore

/// The ids of one answer, to find two that are the same.
///
/// An open hash table of row positions and parts of hashes; ids are compared in the batch itself, only where the hashes
/// are the same. The hash begins with a random number, so that no answer can be made to fill one place of the table.
struct IDSet {
    /// Position in the batch, plus one, in the lower half, a part of the hash in the upper; 0 is a free place.
    private var places: [UInt64] = Array(repeating: 0, count: 64)
    private var count = 0
    private let seed = UInt64.random(in: .min ... .max)
    private let ignoresCase: Bool

    init(matching: IDMatching) { ignoresCase = matching == .asciiCaseInsensitive }

    /// A hash that is the same for ids that are the same.
    func hash(_ id: UnsafeRawBufferPointer) -> UInt64 {
        // The bit that tells `A` from `a`. Other bytes that differ in it only share a hash, no more.
        let fold: UInt64 = ignoresCase ? 0x2020_2020_2020_2020 : 0
        var hash = seed ^ UInt64(id.count)
        var offset = 0
        while id.count - offset >= 8 {
            hash = Self.mix(hash ^ (id.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | fold))
            offset += 8
        }
        guard offset < id.count else { return hash }
        var tail: UInt64 = 0
        for byte in id[offset...] { tail = tail << 8 | UInt64(byte) }
        return Self.mix(hash ^ (tail | fold))
    }

    /// Takes in the row at a position of the batch; false when an earlier one taken in has the same id.
    mutating func insert(_ hash: UInt64, row: Int, of rows: borrowing PackedRows) -> Bool {
        if count * 2 >= places.count { grow(rehashing: rows) }
        let tag = hash & 0xFFFF_FFFF_0000_0000
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while places[place] != 0 {
            let other = places[place]
            if other & 0xFFFF_FFFF_0000_0000 == tag, areSame(row, Int(other & 0xFFFF_FFFF) - 1, in: rows) {
                return false
            }
            place = (place + 1) & (places.count - 1)
        }
        places[place] = tag | UInt64(row + 1)
        count += 1
        return true
    }

    private mutating func grow(rehashing rows: borrowing PackedRows) {
        let old = places
        places = Array(repeating: 0, count: old.count * 4)
        for entry in old where entry != 0 {
            let hash = rows.withRow(at: Int(entry & 0xFFFF_FFFF) - 1) { $0.withIDBytes { self.hash($0) } }
            var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
            while places[place] != 0 { place = (place + 1) & (places.count - 1) }
            places[place] = entry
        }
    }

    private func areSame(_ a: Int, _ b: Int, in rows: borrowing PackedRows) -> Bool {
        rows.withRow(at: a) { a in
            a.withIDBytes { a in
                rows.withRow(at: b) { b in
                    b.withIDBytes { b in a.count == b.count && zip(a, b).allSatisfy(areSame) }
                }
            }
        }
    }

    private func areSame(_ a: UInt8, _ b: UInt8) -> Bool {
        a == b || (ignoresCase && a ^ b == 0x20 && (a | 0x20) &- UInt8(ascii: "a") < 26)
    }

    private static func mix(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
