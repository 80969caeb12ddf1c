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
    /// holds the write lock, ends the transaction, and then calls ``unlockFile()``.
    ///
    /// The writer locks the file before LMDB's own mutex. LMDB releases the mutex when a transaction is aborted or its
    /// commit fails, and the lock keeps other processes from writing until the transaction is repeated in a larger map.
    func beginWriting(_ options: LMDBOptions) throws(StoreError) -> (OpaquePointer, SpaceTable) {
        setDurability(options.durability)
        if !isCounted {
            try CleanShutdownMarker.addWriter(in: folder, within: options.busyTimeout)
            isCounted = true
        }
        try lockFile(within: options.busyTimeout)
        do throws(StoreError) {
            try growAhead(options)
            return try beginTransaction(options)
        } catch {
            unlockFile()
            throw error
        }
    }

    private func beginTransaction(_ options: LMDBOptions) throws(StoreError) -> (OpaquePointer, SpaceTable) {
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
            if try knowsSpaces(of: transaction, known) { return (transaction, known) }
            mdb_txn_abort(transaction)
            try learnSpaces(busyTimeout: options.busyTimeout)
        }
    }

    /// Returns whether all spaces were known when a transaction began. If that cannot be determined, the transaction
    /// ends.
    private func knowsSpaces(of transaction: OpaquePointer, _ known: SpaceTable) throws(StoreError) -> Bool {
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
        // The file may be growing because LMDB keeps the pages that a dead reader could need.
        if used >= nextReaderCheck {
            clearDeadReaders()
            nextReaderCheck = used + Self.growthBetweenReaderChecks
        }
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

    /// Throws an error if the files are not at their paths anymore, before a commit is acknowledged. Called under the
    /// write lock.
    func requireFilesForCommit() throws(StoreError) {
        try folderChanges.recheck { () throws(StoreError) in try requireFiles() }
    }

    /// Throws an error if the files are not at their paths anymore.
    func requireFiles() throws(StoreError) {
        guard FileIdentity(at: dataPath) == identity, FileIdentity(at: lockPath) == lockIdentity else {
            throw .filesMoved(path: path)
        }
    }

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
    /// The lock on the file holds back those that use this engine.
    ///
    /// - Parameters:
    ///   - transaction: The transaction to abort, `nil` if a failed commit did so already; set to the new one, or
    ///     `nil`.
    ///   - identifier: Its number, which the new transaction has, too, if nothing was committed in between.
    func growWithin(
        _ transaction: inout OpaquePointer?, identifier: Int, _ options: LMDBOptions
    ) throws(StoreError) {
        try withoutOthers(within: options.busyTimeout) { () throws(StoreError) in
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

    // MARK: Writers of other processes

    /// Waits until no other process that uses this engine writes. On a file system without such locks, a transaction
    /// that outgrows the map beside another process fails with ``StoreError/Code/busy``.
    private func lockFile(within timeout: Duration) throws(StoreError) {
        _ = try SystemCalls.lock(file, within: timeout, at: path)
    }

    /// Lets other processes write, after the transaction has ended.
    func unlockFile() { SystemCalls.unlock(file) }
}
