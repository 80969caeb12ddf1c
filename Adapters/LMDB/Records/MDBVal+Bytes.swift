internal import CLMDB

extension MDB_val {
    /// Creates a value for LMDB to read, in place for the duration of the call. LMDB uses the same type for input and
    /// output.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    /// The bytes that LMDB returned: in its map or a page of the transaction, valid until the next change or the end.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
