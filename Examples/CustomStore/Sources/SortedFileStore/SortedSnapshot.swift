internal import Foundation
public import TidelineKeyValue
public import TidelineStore

/// The committed entries of a ``SortedFileEngine``, in key order. Copies share their storage.
public struct SortedSnapshot: KeyValueSnapshot, Sendable, Codable {
    private struct Entry: Codable { var key, value: Data }
    private var entries: [Entry] = []

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        let index = index(notBefore: key)
        guard index < entries.count, entries[index].key.elementsEqual(key) else { return false }
        try entries[index].value.withUnsafeBytes(body)
        return true
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        let first = range.lower.withUnsafeBytes { index(notBefore: $0) }
        let end = range.upper.withUnsafeBytes { index(notBefore: $0) }
        for offset in 0..<max(end - first, 0) {
            let entry = entries[descending ? end - 1 - offset : first + offset]
            let step = try entry.key.withUnsafeBytes { key in try entry.value.withUnsafeBytes { try body(key, $0) } }
            if step == .stop { return }
        }
    }

    /// Returns these entries with the changes of a transaction applied. The changes are in key order, too.
    func applying(_ transaction: OverlayTransaction<SortedSnapshot>) -> SortedSnapshot {
        var (changed, next) = (SortedSnapshot(), 0)
        transaction.forEachChange { key, value in
            let index = index(notBefore: key)
            changed.entries += entries[next..<index]
            next = index < entries.count && entries[index].key.elementsEqual(key) ? index + 1 : index
            if let value { changed.entries.append(Entry(key: Data(key), value: Data(value))) }
        }
        changed.entries += entries[next...]
        return changed
    }

    private func index(notBefore key: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
