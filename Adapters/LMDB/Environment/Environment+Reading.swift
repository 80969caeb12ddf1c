internal import CLMDB
internal import Foundation
internal import TidelineStore

extension Environment {
    /// Begins a transaction on the newest snapshot, with handles of all its spaces. End it with ``endReading(_:)``.
    func beginReading(busyTimeout: Duration) throws(StoreError) -> ReadTransaction {
        while true {
            let idle = try lock.beginReading().idle.map { unsafeDowncast($0, to: ReadTransaction.self) }
            let reader: ReadTransaction
            do {
                // Read before the transaction begins, so that it can use their handles.
                let known = spaces.withLock { $0 }
                reader = try begin(idle, knowing: known, busyTimeout)
                if try hasOnly(known, reader) { return reader }
            } catch {
                lock.endReading()
                guard error.engineCode == Int(MDB_MAP_RESIZED) else { throw error }
                try adoptMapSize(busyTimeout: busyTimeout)
                continue
            }
            endReading(reader)
            // Another process created spaces for which there are no handles yet.
            try learnSpaces(busyTimeout: busyTimeout)
        }
    }

    func endReading(_ reader: ReadTransaction) {
        mdb_txn_reset(reader.handle)
        // Until the transaction ends, the read is in flight, so that the map cannot be resized.
        lock.endReading(keeping: reader) { reader.end() }
    }

    /// Returns whether all spaces in a transaction are known. If that cannot be determined, the transaction ends.
    private func hasOnly(_ known: SpaceTable, _ reader: ReadTransaction) throws(StoreError) -> Bool {
        do {
            return try spaceCount(in: reader.handle) <= known.count
        } catch {
            reader.end()
            throw error
        }
    }

    /// Begins a transaction on the newest snapshot, reusing an idle transaction if possible.
    private func begin(
        _ idle: ReadTransaction?, knowing spaces: SpaceTable, _ busyTimeout: Duration
    ) throws(StoreError) -> ReadTransaction {
        guard !isBroken else {
            idle?.end()
            throw error(MDB_PANIC, "the map could not be resized earlier")
        }
        if let idle {
            var result = mdb_txn_renew(idle.handle)
            if result == MDB_SUCCESS { result = renewIfOvertaken(idle.handle) }
            if result == MDB_SUCCESS {
                idle.spaces = spaces
                return idle
            }
            idle.end()
            if result == MDB_MAP_RESIZED { throw error(result, "the read could not start") }
        }
        return ReadTransaction(
            handle: try beginReader(busyTimeout), path: path, isUnlocked: isUnlocked, spaces: spaces)
    }

    /// Begins a new read transaction, with its own entry in the reader table. Waits for reads of other processes if the
    /// table is full.
    private func beginReader(_ busyTimeout: Duration) throws(StoreError) -> OpaquePointer {
        var transaction: OpaquePointer?
        var result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        let start = ContinuousClock.now
        while result == MDB_READERS_FULL {
            clearDeadReaders()
            endIdleReaders()
            result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
            guard result == MDB_READERS_FULL, start.duration(to: .now) < busyTimeout else { break }
            guard !Task.isCancelled else { throw StoreError(.cancelled, "the task was cancelled; nothing was read") }
            // Other processes do not signal the end of their reads.
            usleep(2_000)
        }
        guard result == MDB_SUCCESS, let transaction else { throw error(result, "the read could not start") }
        result = renewIfOvertaken(transaction)
        guard result == MDB_SUCCESS else {
            mdb_txn_abort(transaction)
            throw error(result, "the read could not start")
        }
        return transaction
    }

    /// Begins a read transaction again if two commits were made since it began.
    ///
    /// LMDB notes the number of the newest commit, and then copies the roots of that commit from one of two pages, each
    /// of which every other commit replaces. If two commits are made in between, the roots can be those of the second,
    /// which other readers do not see yet, or a part of both.
    func renewIfOvertaken(_ transaction: OpaquePointer) -> CInt {
        while Self.isOvertaken(transaction) {
            mdb_txn_reset(transaction)
            let result = mdb_txn_renew(transaction)
            guard result == MDB_SUCCESS else { return result }
        }
        return MDB_SUCCESS
    }

    /// Returns whether two commits were made since a transaction began.
    private static func isOvertaken(_ transaction: OpaquePointer) -> Bool {
        var information = MDB_envinfo()
        mdb_env_info(mdb_txn_env(transaction), &information)
        return information.me_last_txnid > mdb_txn_id(transaction) + 1
    }

    /// Throws ``StoreError/Code/busy`` if writers that do not see a read may have replaced pages of its snapshot.
    ///
    /// A writer replaces only pages that neither of the last two commits uses, so the snapshot is complete until the
    /// second commit after it is visible.
    static func requireSnapshot(of transaction: OpaquePointer, path: String) throws(StoreError) {
        guard isOvertaken(transaction) else { return }
        throw StoreError(
            .busy,
            "another process committed during the read, which it cannot see on a read-only file system; read again, "
                + "or make the file system writable for lock.mdb", path: path)
    }

    // MARK: Spaces created by other processes

    /// Opens handles for all existing spaces.
    ///
    /// LMDB puts a handle into a table that transactions share, at the slot that was free when the transaction began.
    /// Therefore, only one transaction at a time may open handles. A writer of this process that creates spaces had
    /// handles of all existing ones when it began (``beginWriting(_:)``), so there is nothing else to open at the same
    /// time.
    func learnSpaces(busyTimeout: Duration) throws(StoreError) {
        while true {
            do {
                return try learnSpacesOnce(busyTimeout)
            } catch {
                guard error.engineCode == Int(MDB_MAP_RESIZED) else { throw error }
                try adoptMapSize(busyTimeout: busyTimeout)
            }
        }
    }

    private func learnSpacesOnce(_ busyTimeout: Duration) throws(StoreError) {
        // An idle transaction would keep its entry in the reader table, and its handles are old.
        if let idle = try lock.beginReading().idle { unsafeDowncast(idle, to: ReadTransaction.self).end() }
        defer { lock.endReading() }
        spacesLock.lock()
        defer { spacesLock.unlock() }
        guard !isBroken else { throw error(MDB_PANIC, "the map could not be resized earlier") }
        let transaction = try beginReader(busyTimeout)
        let table: SpaceTable
        do {
            table = try openSpaces(in: transaction, beside: spaces.withLock { $0 })
            if isUnlocked { try Self.requireSnapshot(of: transaction, path: path) }
        } catch {
            defer { mdb_txn_abort(transaction) }
            if isUnlocked { try Self.requireSnapshot(of: transaction, path: path) }
            throw error
        }
        // Ends the transaction and makes its handles valid for all others.
        let result = mdb_txn_commit(transaction)
        guard result == MDB_SUCCESS else { throw error(result, "the tables could not be opened") }
        spaces.withLock { $0 = table }
    }

    private func openSpaces(in transaction: OpaquePointer, beside known: SpaceTable) throws(StoreError) -> SpaceTable {
        var table = known
        for space in try storedSpaces(in: transaction) where table[space] == nil {
            var opened: MDB_dbi = 0
            let result = mdb_dbi_open(transaction, SpaceName.of(space), 0, &opened)
            guard result == MDB_SUCCESS else { throw error(result, "a table could not be opened") }
            table = table.adding(space, opened)
        }
        return table
    }

    private func storedSpaces(in transaction: OpaquePointer) throws(StoreError) -> [UInt32] {
        var cursor: OpaquePointer?
        var result = mdb_cursor_open(transaction, main, &cursor)
        guard result == MDB_SUCCESS, let cursor else { throw error(result, "the tables could not be listed") }
        defer { mdb_cursor_close(cursor) }
        var name = MDB_val()
        var record = MDB_val()
        var spaces: [UInt32] = []
        while true {
            result = mdb_cursor_get(cursor, &name, &record, MDB_NEXT)
            if result == MDB_NOTFOUND { return spaces }
            guard result == MDB_SUCCESS else { throw error(result, "the tables could not be listed") }
            guard let space = SpaceName.space(named: name.bytes) else {
                throw .unknownTable(isFirst: spaces.isEmpty, path: path)
            }
            spaces.append(space)
        }
    }
}
