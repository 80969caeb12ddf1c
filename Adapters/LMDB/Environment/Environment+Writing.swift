internal import CLMDB
internal import Foundation
internal import TidelineStore

extension Environment {
    /// Waits until no other thread of this process writes.
    func beginTurn() throws(StoreError) {
        do throws(StoreError) {
            try lock.beginWriting()
        } catch {
            throw StoreError(
                .busy, "a write began inside a write of another store in the same folder, on the same thread",
                path: path)
        }
    }

    /// Begins a write transaction with handles of all existing spaces, and returns it with those spaces. The caller
    /// holds the write lock, and ends the transaction before it releases the lock.
    func beginWriting(_ options: LMDBOptions) throws(StoreError) -> (OpaquePointer, SpaceTable) {
        setDurability(options.durability)
        if !isCounted {
            try CleanShutdownMarker.addWriter(in: folder)
            isCounted = true
        }
        try growAhead(options)
        while true {
            guard !isBroken else { throw error(MDB_PANIC, "the map could not be resized earlier") }
            let known = spaces.withLock { $0 }
            var transaction: OpaquePointer?
            let result = mdb_txn_begin(handle, nil, 0, &transaction)
            guard result == MDB_SUCCESS, let transaction else {
                guard result == MDB_MAP_RESIZED else { throw error(result, "the write could not start") }
                try adoptMapSize(busyTimeout: options.busyTimeout)
                continue
            }
            if try isReady(transaction, known) { return (transaction, known) }
            mdb_txn_abort(transaction)
            try waitForGrowth()
            try learnSpaces(busyTimeout: options.busyTimeout)
        }
    }

    /// Returns whether a new transaction can continue: no other process is about to restart its own, and all spaces
    /// were known when it began.
    private func isReady(_ transaction: OpaquePointer, _ known: SpaceTable) throws(StoreError) -> Bool {
        guard !isGrowingElsewhere else { return false }
        spacesLock.lock()
        defer { spacesLock.unlock() }
        do {
            let count = try spaceCount(in: transaction)
            return count == known.count && spaces.withLock { $0 } === known
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
    }

    /// Sets the durability, which differs between the stores of the process. The write lock makes this safe.
    private func setDurability(_ wanted: StoreCapabilities.Durability) {
        guard durability != wanted else { return }
        mdb_env_set_flags(handle, UInt32(MDB_NOSYNC | MDB_NOMETASYNC), 0)
        if wanted != .full { mdb_env_set_flags(handle, UInt32(wanted == .none ? MDB_NOSYNC : MDB_NOMETASYNC), 1) }
        durability = wanted
    }

    /// Grows the map before a transaction if little space is left and no read is in flight.
    private func growAhead(_ options: LMDBOptions) throws(StoreError) {
        let (size, used) = mapUsage
        guard used > size - size / 4, size < options.maximumMapSize else { return }
        do {
            try withoutOthers(within: .zero) { () throws(StoreError) in
                try growMap(to: options.maximumMapSize)
            }
        } catch {
            // A read is in flight. There may be enough space; if not, the transaction waits for the read to end.
            guard error.code == .busy || error.code == .full else { throw error }
        }
    }

    // MARK: Commit

    /// Commits a transaction, which is ended even if that fails.
    ///
    /// - Parameter spaces: All spaces as of this transaction, if it created some.
    func commit(_ transaction: OpaquePointer, making spaces: SpaceTable?) -> Int32 {
        guard let spaces else { return mdb_txn_commit(transaction) }
        // From the time the commit is visible until its handles are known, no other handle may be opened.
        spacesLock.lock()
        defer { spacesLock.unlock() }
        let result = mdb_txn_commit(transaction)
        if result == MDB_SUCCESS { self.spaces.withLock { $0 = spaces } }
        return result
    }

    // MARK: Growing within a transaction

    /// Aborts a transaction, doubles the map, and begins another transaction on the same snapshot.
    ///
    /// LMDB lets other processes write as soon as the transaction is aborted, which could invalidate what it has read.
    /// A lock on the file, which every writer checks when it begins, holds back other processes that use this engine.
    ///
    /// - Parameters:
    ///   - transaction: The transaction to abort, `nil` if a failed commit did so already; set to the new one, or
    ///     `nil`.
    ///   - identifier: Its number, which the new transaction has, too, if nothing was committed in between.
    func growWithin(
        _ transaction: inout OpaquePointer?, identifier: Int, _ options: LMDBOptions
    ) throws(StoreError) {
        try withoutOthers(within: options.busyTimeout) { () throws(StoreError) in
            try lockFile(LOCK_EX)
            defer { unlockFile() }
            mdb_txn_abort(transaction)
            transaction = nil
            try growMap(to: options.maximumMapSize)
            let result = mdb_txn_begin(handle, nil, 0, &transaction)
            guard result == MDB_SUCCESS else { throw error(result, "the write could not continue after the map grew") }
            guard mdb_txn_id(transaction) == identifier else {
                throw StoreError(
                    .busy, "another program wrote to the file while the map grew; try again", path: path)
            }
        }
    }

    var file: Int32 {
        var file: mdb_filehandle_t = -1
        mdb_env_get_fd(handle, &file)
        return file
    }

    private var isGrowingElsewhere: Bool {
        guard tideline_lmdb_flock(file, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        unlockFile()
        return false
    }

    private func waitForGrowth() throws(StoreError) {
        try lockFile(LOCK_SH)
        unlockFile()
    }

    private func lockFile(_ kind: Int32) throws(StoreError) {
        while tideline_lmdb_flock(file, kind) != 0 {
            guard errno == EINTR else { throw .system(errno, path: path, doing: "the file could not be locked") }
        }
    }

    private func unlockFile() { _ = tideline_lmdb_flock(file, LOCK_UN) }
}
