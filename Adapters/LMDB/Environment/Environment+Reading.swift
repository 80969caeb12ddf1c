internal import CLMDB
internal import TidelineStore

extension Environment {
    /// A transaction on the newest snapshot, in which every space has its handle; ended by ``endReading(_:)``.
    func beginReading(busyTimeout: Duration) throws(StoreError) -> ReadTransaction {
        while true {
            let idle = turnstile.beginReadingIdle()
            let reader: ReadTransaction
            do {
                // Known before the transaction begins, so that it knows their handles, too.
                let known = spaces.withLock { $0 }
                reader = try begin(idle, knowing: known)
                if try hasOnly(known, reader) { return reader }
            } catch {
                turnstile.endReading()
                guard error.engineCode == Int(MDB_MAP_RESIZED) else { throw error }
                try adoptMapSize(busyTimeout: busyTimeout)
                continue
            }
            endReading(reader)
            // Another process made spaces that are not known here.
            try learnSpaces(busyTimeout: busyTimeout)
        }
    }

    func endReading(_ reader: ReadTransaction) {
        mdb_txn_reset(reader.handle)
        turnstile.endReading(keeping: reader)
    }

    /// Whether there are no spaces in a transaction but those; it is ended when that cannot be told.
    private func hasOnly(_ known: SpaceTable, _ reader: ReadTransaction) throws(StoreError) -> Bool {
        do {
            return try spaceCount(in: reader.handle) <= known.count
        } catch {
            reader.end()
            throw error
        }
    }

    /// A transaction on the newest snapshot: the idle one, or a new one.
    private func begin(_ idle: ReadTransaction?, knowing spaces: SpaceTable) throws(StoreError) -> ReadTransaction {
        guard !isBroken else {
            idle?.end()
            throw error(MDB_PANIC, "the map was lost")
        }
        if let idle {
            let result = mdb_txn_renew(idle.handle)
            if result == MDB_SUCCESS {
                idle.spaces = spaces
                return idle
            }
            idle.end()
            if result == MDB_MAP_RESIZED { throw error(result, "a read could not begin") }
        }
        return ReadTransaction(handle: try beginReader(), path: path, spaces: spaces)
    }

    /// A new transaction to read in, with a place of its own in the table of readers.
    private func beginReader() throws(StoreError) -> OpaquePointer {
        var transaction: OpaquePointer?
        var result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        if result == MDB_READERS_FULL {
            clearDeadReaders()
            turnstile.dropIdle()
            result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        }
        guard result == MDB_SUCCESS, let transaction else { throw error(result, "a read could not begin") }
        return transaction
    }

    // MARK: Spaces made by others

    /// Gets handles for all spaces there are.
    ///
    /// LMDB puts a handle into a table that transactions share, at the place that was free when its transaction began. So
    /// only one transaction at a time may open some, and a writer of this process that does so knows all that exist when
    /// it begins (``beginWriting(_:)``): there is nothing left to open beside it.
    func learnSpaces(busyTimeout: Duration) throws(StoreError) {
        while true {
            do {
                return try learnSpacesOnce()
            } catch {
                guard error.engineCode == Int(MDB_MAP_RESIZED) else { throw error }
                try adoptMapSize(busyTimeout: busyTimeout)
            }
        }
    }

    private func learnSpacesOnce() throws(StoreError) {
        turnstile.beginReading()
        defer { turnstile.endReading() }
        spacesLock.lock()
        defer { spacesLock.unlock() }
        guard !isBroken else { throw error(MDB_PANIC, "the map was lost") }
        let transaction = try beginReader()
        let table: SpaceTable
        do {
            table = try openSpaces(in: transaction, beside: spaces.withLock { $0 })
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        // Ends it and leaves the handles valid for all.
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
            guard let space = SpaceName.space(named: name.bytes) else { throw .foreign(path) }
            spaces.append(space)
        }
    }
}
