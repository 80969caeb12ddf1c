public import TidelineKeyValue
public import TidelineStore

/// Reading within one snapshot of an ``LMDBEngine``: keys and values are borrowed from LMDB's map.
public struct LMDBSnapshot: KeyValueSnapshot {
    let reader: ReadTransaction
    let path: String

    public func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        guard let space = reader.spaces[try Records.space(of: key)] else { return nil }
        return try Records(transaction: reader.handle, path: path).get(key, in: space, body)
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        guard !range.isEmpty, let space = reader.spaces[try Records.space(of: range)] else { return }
        try reader.withCursor(in: space, path: path) { cursor in
            try Records(transaction: reader.handle, path: path).scan(range, descending: descending, with: cursor, body)
        }
    }
}
