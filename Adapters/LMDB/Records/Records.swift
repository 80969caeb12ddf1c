internal import CLMDB
internal import TidelineKeyValue
internal import TidelineStore

/// Reads within an LMDB transaction, either read-only or writable.
struct Records {
    let path: String

    static func space(of key: UnsafeRawBufferPointer) throws(StoreError) -> UInt32 {
        guard key.count >= 4 else {
            throw StoreError(.invalidValue, "a key of \(key.count) bytes is too short: its key space takes four")
        }
        return UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))
    }

    static func space(of range: KeyRange) throws(StoreError) -> UInt32 {
        guard range.lower.count >= 4 else {
            throw StoreError(.invalidValue, "the lower end of a range is too short: its key space takes four bytes")
        }
        return range.lower.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Returns the value of a key, or `nil` if there is none.
    static func find(
        _ key: UnsafeRawBufferPointer, in space: MDB_dbi, of transaction: OpaquePointer,
        path: @autoclosure () -> String
    ) throws(StoreError) -> UnsafeRawBufferPointer? {
        var key = MDB_val(key)
        var stored = MDB_val()
        let result = mdb_get(transaction, space, &key, &stored)
        guard result == MDB_SUCCESS, stored.mv_size >= Checksum.size else {
            if result == MDB_NOTFOUND { return nil }
            let records = Records(path: path())
            guard result == MDB_SUCCESS else { throw records.error(result) }
            return try records.value(stored)
        }
        return UnsafeRawBufferPointer(start: stored.mv_data, count: stored.mv_size &- Checksum.size)
    }

    func scan(
        _ range: KeyRange, descending: Bool, with cursor: OpaquePointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try range.lower.withUnsafeBytes { lower in
            try range.upper.withUnsafeBytes { upper in
                guard lower.compare(upper) < 0 else { return }
                if descending {
                    try scanDown(from: upper, to: lower, with: cursor, body)
                } else {
                    try scanUp(from: lower, to: upper, with: cursor, body)
                }
            }
        }
    }

    private func scanUp(
        from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer, with cursor: OpaquePointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        var key = MDB_val(lower)
        var stored = MDB_val()
        var result = mdb_cursor_get(cursor, &key, &stored, MDB_SET_RANGE)
        // The database contains the keys of only one space, so an end beyond the space needs no check.
        let isBounded = upper.starts(with: lower.prefix(4))
        while result == MDB_SUCCESS {
            guard !isBounded || key.bytes.compare(upper) < 0, try body(key.bytes, try value(stored)) == .next else {
                return
            }
            result = mdb_cursor_get(cursor, &key, &stored, MDB_NEXT)
        }
        guard result == MDB_NOTFOUND else { throw error(result) }
    }

    private func scanDown(
        from upper: UnsafeRawBufferPointer, to lower: UnsafeRawBufferPointer, with cursor: OpaquePointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        var key = MDB_val(upper)
        var stored = MDB_val()
        // Seek to the first key that is not below the end, then step back; if there is no such key, start at the last
        // key.
        let found = mdb_cursor_get(cursor, &key, &stored, MDB_SET_RANGE)
        guard found == MDB_SUCCESS || found == MDB_NOTFOUND else { throw error(found) }
        var result = mdb_cursor_get(cursor, &key, &stored, found == MDB_SUCCESS ? MDB_PREV : MDB_LAST)
        while result == MDB_SUCCESS {
            guard key.bytes.compare(lower) >= 0, try body(key.bytes, try value(stored)) == .next else { return }
            result = mdb_cursor_get(cursor, &key, &stored, MDB_PREV)
        }
        guard result == MDB_NOTFOUND else { throw error(result) }
    }

    /// Returns a stored value without its checksum.
    func value(_ stored: MDB_val) throws(StoreError) -> UnsafeRawBufferPointer {
        guard stored.mv_size >= Checksum.size else {
            throw StoreError(
                .corrupt,
                "a value has no checksum: the file is damaged; restore a backup, or start with an empty store and pull",
                path: path)
        }
        return UnsafeRawBufferPointer(start: stored.mv_data, count: stored.mv_size &- Checksum.size)
    }

    private func error(_ result: Int32) -> StoreError { .lmdb(result, path: path, doing: "a record could not be read") }
}

extension MDB_val {
    /// Creates a value for LMDB to read, in place for the duration of the call. LMDB uses the same type for input and
    /// output.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    /// The bytes that LMDB returned: in its map or a page of the transaction, valid until the next change or the end.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
