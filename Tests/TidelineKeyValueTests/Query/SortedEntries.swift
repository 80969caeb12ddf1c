import TidelineStore

@testable import TidelineKeyValue

/// A minimal transaction, a sorted array, that counts its calls.
final class SortedEntries: KeyValueTransaction {
    private var entries: [(key: [UInt8], value: [UInt8])] = []
    /// The number of keys that scans passed to their bodies.
    private(set) var scanned = 0
    /// The number of scans.
    private(set) var scans = 0
    /// The number of looked-up values.
    private(set) var lookedUp = 0

    func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        lookedUp += 1
        let position = position(of: key)
        guard position < entries.count, isEntry(at: position, key) else { return false }
        try entries[position].value.withUnsafeBytes(body)
        return true
    }

    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        scans += 1
        let start = range.lower.withUnsafeBytes(position)
        let end = max(start, range.upper.withUnsafeBytes(position))
        for offset in 0..<(end - start) {
            let entry = entries[descending ? end - 1 - offset : start + offset]
            scanned += 1
            let step = try entry.key.withUnsafeBytes { key in try entry.value.withUnsafeBytes { try body(key, $0) } }
            if case .stop = step { return }
        }
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let position = position(of: key)
        if position < entries.count, isEntry(at: position, key) {
            entries[position].value = Array(value)
        } else {
            entries.insert((Array(key), Array(value)), at: position)
        }
    }

    func delete(_ key: UnsafeRawBufferPointer) -> Bool {
        let position = position(of: key)
        guard position < entries.count, isEntry(at: position, key) else { return false }
        entries.remove(at: position)
        return true
    }

    func forgetCounts() { (scanned, scans, lookedUp) = (0, 0, 0) }

    /// Returns the first position whose key is not less than `key`.
    private func position(of key: UnsafeRawBufferPointer) -> Int {
        var (lower, upper) = (0, entries.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if entries[middle].key.withUnsafeBytes({ $0.compare(key) < 0 }) {
                lower = middle + 1
            } else {
                upper = middle
            }
        }
        return lower
    }

    private func isEntry(at position: Int, _ key: UnsafeRawBufferPointer) -> Bool {
        entries[position].key.withUnsafeBytes { $0.compare(key) == 0 }
    }
}
