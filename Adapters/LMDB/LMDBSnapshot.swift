internal import CLMDB
public import TidelineKeyValue
public import TidelineStore

/// Reads within one snapshot of an ``LMDBEngine``. Keys and values are borrowed from LMDB's map.
public struct LMDBSnapshot: KeyValueSnapshot {
    let reader: ReadTransaction

    public var commitNumber: UInt64? { UInt64(truncatingIfNeeded: mdb_txn_id(reader.handle)) }

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try reader.requireSnapshot()
        guard let space = reader.spaces[try Records.space(of: key)],
            let value = try Records.find(key, in: space, of: reader.handle, path: reader.path)
        else { return false }
        try reader.requireSnapshot()
        try body(value)
        return true
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        guard !range.isEmpty, let space = reader.spaces[try Records.space(of: range)] else { return }
        try reader.withCursor(in: space) { cursor in
            let records = Records(path: reader.path)
            guard reader.isUnlocked else {
                return try records.scan(range, descending: descending, with: cursor, body)
            }
            // LMDB trusts pages, so it must not read any that were replaced.
            try reader.requireSnapshot()
            try records.scan(range, descending: descending, with: cursor) { key, value in
                try reader.requireSnapshot()
                let step = try body(key, value)
                try reader.requireSnapshot()
                return step
            }
        }
    }
}
