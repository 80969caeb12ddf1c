internal import CLMDB

extension MDB_val {
    /// Bytes for LMDB to read, in place for as long as the call takes. LMDB's type is the same for what it only reads.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    /// The bytes LMDB answered with: within its map or a page of the transaction, until the next change or its end.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
