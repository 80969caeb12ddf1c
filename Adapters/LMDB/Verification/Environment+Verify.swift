internal import CLMDB
internal import Foundation
internal import TidelineStore

extension Environment {
    /// Looks the newest snapshot through; see ``FileVerifier``.
    func verify() throws(StoreError) {
        let file = try DataFile(folder.dataPath)
        while try !verifyOnce(file) {}
    }

    /// - Returns: False when another process wrote so much between the snapshot's begin and the look at the file's heads
    ///   that the snapshot's is gone; the pages are still there, but where they begin is not known.
    private func verifyOnce(_ file: DataFile) throws(StoreError) -> Bool {
        turnstile.beginReading()
        defer { turnstile.endReading() }
        var transaction: OpaquePointer?
        let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        if result == MDB_MAP_RESIZED {
            // Nobody else has this environment yet.
            mdb_env_set_mapsize(handle, 0)
            return false
        }
        guard result == MDB_SUCCESS else { throw error(result, "the file could not be checked") }
        defer { mdb_txn_abort(transaction) }
        let heads = try FileHeads.read(file)
        guard let verifier = try FileVerifier(file, heads, transaction: UInt(mdb_txn_id(transaction))) else {
            return false
        }
        try verifier.verify()
        return true
    }

    /// The error of a commit that failed.
    ///
    /// When LMDB fails to write a head, it puts the old number back but leaves the new roots, and gives up: nothing can
    /// be read or written until the file is opened anew. The snapshot before is untouched. But such a head looks as one
    /// does whose number was damaged after it was committed, which is never to be passed over; so it is noted.
    func commitError(_ result: Int32, of transaction: Int) -> StoreError {
        var error = error(result, "the transaction could not be committed")
        if result == EIO, isDiskFull {
            error.code = .full
            error.message = "the transaction could not be committed: the disk is full"
        }
        if hasGivenUp {
            noteFailure(of: UInt(transaction))
            error.message += "; close the store in this process, then open it again"
        }
        return error
    }

    private var hasGivenUp: Bool {
        var transaction: OpaquePointer?
        let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        if result == MDB_SUCCESS { mdb_txn_abort(transaction) }
        return result == MDB_PANIC
    }

    /// Writes behind a head that its commit failed. If that fails too, opening will refuse the file.
    private func noteFailure(of commit: UInt) {
        var statistics = MDB_stat()
        mdb_env_stat(handle, &statistics)
        let offset = Int(commit & 1) * Int(statistics.ms_psize) + FileLayout.failedCommit
        withUnsafeBytes(of: (commit, ~commit)) { note in
            _ = pwrite(file, note.baseAddress, note.count, off_t(offset))
        }
        fsync(file)
    }

    /// Whether the disk has no room: LMDB reports a write that was cut short as an error of input and output.
    private var isDiskFull: Bool {
        var status = statvfs()
        guard fstatvfs(file, &status) == 0 else { return false }
        return Int(status.f_bavail) * Int(status.f_frsize) < 1 << 16
    }
}
