internal import CLevelDB
internal import TidelineKeyValue
internal import TidelineStore

/// One walk over the keys of a snapshot.
struct LevelDBIterator {
    private let iterator: OpaquePointer?
    private let path: String

    init(_ database: Database, _ options: OpaquePointer?) {
        iterator = leveldb_create_iterator(database.handle, options)
        path = database.path
    }

    /// Lets go of it; LevelDB's files stay open until then.
    func end() { leveldb_iter_destroy(iterator) }

    /// Throws what went wrong on the way, if anything did.
    func check() throws(StoreError) {
        var message: UnsafeMutablePointer<CChar>?
        leveldb_iter_get_error(iterator, &message)
        if let message { throw StoreError.levelDB(message, path: path, doing: "reading failed") }
    }

    /// Calls `body` with so many keys of a range at most, in order. Returns what is left of the range then, nil when all
    /// was seen or `body` stopped.
    func walk(
        _ range: KeyRange, descending: Bool, limit: Int,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> ScanStep
    ) throws -> KeyRange? {
        if descending {
            try range.lower.withUnsafeBytes { lower in
                seek(before: range.upper)
                let key = try walk(limit, while: { $0.compare(lower) >= 0 }, leveldb_iter_prev, body)
                return key.map { KeyRange(from: range.lower, to: $0 + [0]) }
            }
        } else {
            try range.upper.withUnsafeBytes { upper in
                seek(to: range.lower)
                let key = try walk(limit, while: { $0.compare(upper) < 0 }, leveldb_iter_next, body)
                return key.map { KeyRange(from: $0, to: range.upper) }
            }
        }
    }

    /// Calls `body` with so many keys at most. Returns the first it was not called with for that reason.
    @inline(__always)
    private func walk(
        _ limit: Int, while isInRange: (UnsafeRawBufferPointer) -> Bool, _ move: (OpaquePointer?) -> Void,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> ScanStep
    ) throws -> [UInt8]? {
        var left = limit
        while isValid {
            let key = key
            guard isInRange(key) else { return nil }
            if left == 0 { return Array(key) }
            left -= 1
            guard try body(key, value) == .next else { return nil }
            move(iterator)
        }
        return nil
    }

    /// Whether no key begins with these bytes; false when reading failed.
    func isEmpty(_ prefix: UnsafeRawBufferPointer) -> Bool {
        leveldb_iter_seek(iterator, prefix.chars, prefix.count)
        let isFound = isValid && key.starts(with: prefix)
        do {
            try check()
        } catch {
            return false
        }
        return !isFound
    }

    private func seek(to key: [UInt8]) { key.withUnsafeBytes { leveldb_iter_seek(iterator, $0.chars, $0.count) } }

    /// Goes to the last key before `key`.
    private func seek(before key: [UInt8]) {
        seek(to: key)
        if isValid { leveldb_iter_prev(iterator) } else { leveldb_iter_seek_to_last(iterator) }
    }

    private var isValid: Bool { leveldb_iter_valid(iterator) != 0 }

    /// The key and the value there, in LevelDB's memory until the next move.
    private var key: UnsafeRawBufferPointer {
        var length = 0
        let bytes = leveldb_iter_key(iterator, &length)
        return UnsafeRawBufferPointer(start: bytes, count: length)
    }

    private var value: UnsafeRawBufferPointer {
        var length = 0
        let bytes = leveldb_iter_value(iterator, &length)
        return UnsafeRawBufferPointer(start: bytes, count: length)
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as C's characters, which LevelDB takes.
    var chars: UnsafePointer<CChar>? { baseAddress?.assumingMemoryBound(to: CChar.self) }
}
