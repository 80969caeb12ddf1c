internal import CLevelDB
internal import TidelineKeyValue
internal import TidelineStore

/// A scan over the keys of a snapshot.
struct LevelDBIterator {
    private let iterator: OpaquePointer?
    private let path: String

    init(_ database: Database, _ options: OpaquePointer?) {
        iterator = leveldb_create_iterator(database.handle, options)
        path = database.path
    }

    /// Destroys the iterator; LevelDB keeps its files open until then.
    func end() { leveldb_iter_destroy(iterator) }

    /// Throws an error if the scan failed.
    func check() throws(StoreError) {
        var message: UnsafeMutablePointer<CChar>?
        leveldb_iter_get_error(iterator, &message)
        if let message { throw StoreError.levelDB(message, path: path, doing: "reading failed") }
    }

    /// Calls `body` with at most `limit` keys of a range, in order. Returns the rest of the range, or `nil` if the
    /// range is exhausted or `body` stopped.
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

    /// Calls `body` with at most `limit` keys. Returns the next key if the limit was reached.
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

    /// Returns whether no key begins with these bytes; `false` if reading failed.
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

    /// Moves to the last key before `key`.
    private func seek(before key: [UInt8]) {
        seek(to: key)
        if isValid { leveldb_iter_prev(iterator) } else { leveldb_iter_seek_to_last(iterator) }
    }

    private var isValid: Bool { leveldb_iter_valid(iterator) != 0 }

    /// The current key and value, in LevelDB's memory until the next move.
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
    /// The bytes as C characters, for calls to LevelDB.
    var chars: UnsafePointer<CChar>? { baseAddress?.assumingMemoryBound(to: CChar.self) }
}
