internal import CLMDB
internal import Foundation
internal import TidelineStore

extension Environment {
    /// Verifies the newest snapshot; see ``FileVerifier``.
    func verify() throws(StoreError) {
        let file = try DataFile(folder.dataPath)
        while try !verifyOnce(file) {}
    }

    /// - Returns: `false` if other processes committed so often between the start of the snapshot and the reading of
    ///   the meta pages that the snapshot's meta page was overwritten. Its pages still exist, but their roots are
    ///   unknown.
    private func verifyOnce(_ file: DataFile) throws(StoreError) -> Bool {
        try lock.beginReading()
        defer { lock.endReading() }
        var transaction: OpaquePointer?
        let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        if result == MDB_MAP_RESIZED {
            // No other thread uses this environment yet.
            mdb_env_set_mapsize(handle, try Self.sizeForFile(of: handle, path))
            return false
        }
        guard result == MDB_SUCCESS, let transaction else { throw error(result, "the file could not be checked") }
        defer { mdb_txn_abort(transaction) }
        let heads = try FileHeads.read(file)
        guard let verifier = try FileVerifier(file, heads, transaction: UInt(mdb_txn_id(transaction))) else {
            return false
        }
        let damage: StoreError?
        do throws(StoreError) {
            try verifier.verify()
            damage = nil
        } catch {
            damage = error
        }
        if isUnlocked { try Self.requireSnapshot(of: transaction, path: path) }
        if let damage { throw damage }
        return true
    }

    /// Returns the error of a commit that failed.
    ///
    /// If LMDB cannot write a meta page, it restores the old number but keeps the new roots, and enters a fatal error
    /// state: nothing can be read or written until the file is reopened. The previous snapshot is intact. However, such
    /// a meta page looks like one whose number was damaged after it was committed, which verification must detect. The
    /// failed commit is therefore recorded.
    func commitError(_ result: Int32, of transaction: Int) -> StoreError {
        isIntact = false
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

    /// Records after a meta page that the commit of it failed. If this fails, too, opening will reject the file.
    private func noteFailure(of commit: UInt) {
        var statistics = MDB_stat()
        mdb_env_stat(handle, &statistics)
        let offset = Int(commit & 1) * Int(statistics.ms_psize) + FileLayout.failedCommit
        withUnsafeBytes(of: (commit, ~commit)) { note in
            _ = pwrite(file, note.baseAddress, note.count, off_t(offset))
        }
        fsync(file)
    }

    /// Whether the disk is full: LMDB reports a partial write as an I/O error.
    private var isDiskFull: Bool {
        var status = statvfs()
        guard fstatvfs(file, &status) == 0 else { return false }
        return Int(status.f_bavail) * Int(status.f_frsize) < 1 << 16
    }
}
