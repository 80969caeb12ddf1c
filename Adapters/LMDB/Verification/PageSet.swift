/// The set of pages found so far in a file; each may occur only once.
struct PageSet {
    /// A bit for each page within the file.
    private var bits: [UInt64]
    private let count: UInt
    /// Free pages beyond the end of the file, which were never written.
    private var beyond: Set<UInt> = []

    init(count: Int) {
        self.count = UInt(count)
        bits = Array(repeating: 0, count: count / 64 + 1)
    }

    /// - Returns: Whether the page was not in the set.
    mutating func insert(_ page: UInt) -> Bool {
        guard page < count else { return beyond.insert(page).inserted }
        let bit: UInt64 = 1 << UInt64(page & 63)
        guard bits[Int(page >> 6)] & bit == 0 else { return false }
        bits[Int(page >> 6)] |= bit
        return true
    }

    func contains(_ page: UInt) -> Bool {
        page < count ? bits[Int(page >> 6)] >> UInt64(page & 63) & 1 == 1 : beyond.contains(page)
    }
}
