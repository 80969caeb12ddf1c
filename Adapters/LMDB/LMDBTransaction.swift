internal import CLMDB
public import TidelineKeyValue
public import TidelineStore

/// Reads and writes within one transaction of an ``LMDBEngine``.
///
/// The transaction keeps a second copy of its changes in memory. If LMDB's map is full, it is aborted, the map grows,
/// and the changes are replayed in a new transaction.
public final class LMDBTransaction: KeyValueTransaction {
    // Exclusivity is unchecked for the mutable properties: no access overlaps another, and the checks would add about a
    // tenth to the time of each change.
    private let environment: Environment
    private let options: LMDBOptions
    /// LMDB's transaction; `nil` after it has ended.
    @exclusivity(unchecked)
    private var handle: OpaquePointer?
    /// The number of the transaction in LMDB.
    private let identifier: Int
    /// The spaces that existed when the transaction began.
    private let base: SpaceTable
    /// The spaces that existed, plus those that the transaction created.
    @exclusivity(unchecked)
    private var spaces: SpaceTable
    @exclusivity(unchecked)
    private var cursors = WriteCursors()
    @exclusivity(unchecked)
    private var journal = Journal()

    /// Begins a transaction; the caller must hold the write lock.
    init(in environment: Environment, options: LMDBOptions) throws(StoreError) {
        self.environment = environment
        self.options = options
        let (handle, base) = try environment.beginWriting(options)
        self.handle = handle
        identifier = mdb_txn_id(handle)
        self.base = base
        spaces = base
    }

    /// Discards uncommitted changes and lets other processes write. Call it once, also after a commit.
    func end() {
        mdb_txn_abort(handle)
        handle = nil
        cursors.forget()
        environment.unlockFile()
    }

    /// Commits the transaction, growing the map if necessary.
    func commit() throws {
        try environment.requireFilesForCommit()
        while true {
            let result = environment.commit(try transaction(), making: spaces === base ? nil : spaces)
            handle = nil
            cursors.forget()
            if result == MDB_SUCCESS { return }
            guard result == MDB_MAP_FULL else { throw environment.commitError(result, of: identifier) }
            try makeRoom()
        }
    }

    // MARK: Reading

    /// A transaction has the number that its commit will have.
    public var commitNumber: UInt64? { UInt64(truncatingIfNeeded: identifier - 1) }
    public var ownCommitNumber: UInt64? { UInt64(truncatingIfNeeded: identifier) }

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        guard let space = spaces[try Records.space(of: key)],
            let value = try Records.find(key, in: space, of: try transaction(), path: environment.path)
        else { return false }
        try body(value)
        return true
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        guard !range.isEmpty, let space = spaces[try Records.space(of: range)] else { return }
        var cursor: OpaquePointer?
        let result = mdb_cursor_open(try transaction(), space, &cursor)
        guard result == MDB_SUCCESS, let cursor else { throw environment.error(result, "the scan could not start") }
        defer { mdb_cursor_close(cursor) }
        try records.scan(range, descending: descending, with: cursor, body)
    }

    // MARK: Writing

    public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        let stored = try prepare(key, value)
        try changing { () throws(StoreError) in try self.store(key, stored) }
        journal.keep()
    }

    public func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        guard spaces[try Records.space(of: key)] != nil else { return false }
        let result = try changing(orResult: MDB_NOTFOUND) { () throws(StoreError) in try self.remove(key) }
        if result == MDB_SUCCESS { journal.appendDelete(key) }
        return result == MDB_SUCCESS
    }

    public func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let stored = try prepare(key, value)
        var found = MDB_val()
        var place: OpaquePointer?
        let result = try changing(orResult: MDB_KEYEXIST) { () throws(StoreError) in
            try self.store(key, stored, flags: MDB_NOOVERWRITE, found: &found, by: &place)
        }
        if result == MDB_KEYEXIST {
            guard try replaces(records.value(found)) else { return false }
            try changing { () throws(StoreError) in
                // If the map had to grow, no cursor is positioned anymore.
                guard let cursor = place.take() else { return try self.store(key, stored) }
                return Self.replace(key, stored, at: cursor)
            }
        }
        journal.keep()
        return result == MDB_SUCCESS
    }

    /// Makes a change, growing the map if necessary.
    @discardableResult
    private func changing(
        orResult expected: Int32 = MDB_SUCCESS, _ change: () throws(StoreError) -> Int32
    ) throws(StoreError) -> Int32 {
        while true {
            let result = try change()
            if result == MDB_SUCCESS || result == expected { return result }
            guard result == MDB_MAP_FULL else { throw environment.error(result, "the change could not be made") }
            try makeRoom()
        }
    }

    // MARK: Steps

    /// Returns the bytes that LMDB stores for a value: the value and its checksum. They are in the journal, valid until
    /// the next change, and stay there if the change is made.
    private func prepare(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        guard key.count <= FileLayout.maximumKeyLength else {
            throw StoreError(
                .invalidValue, "a key has \(key.count) bytes; LMDB allows at most \(FileLayout.maximumKeyLength)")
        }
        guard value.count <= Int(clamping: UInt32.max) - Checksum.size else {
            throw StoreError(.invalidValue, "a value of \(value.count) bytes exceeds the limit of LMDB")
        }
        return journal.preparePut(key, value)
    }

    private func store(_ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer) throws(StoreError) -> Int32 {
        var found = MDB_val()
        var cursor: OpaquePointer?
        return try store(key, stored, flags: 0, found: &found, by: &cursor)
    }

    /// Stores the bytes that ``prepare(_:_:)`` returned.
    ///
    /// - Parameters:
    ///   - found: Set to the existing value.
    ///   - cursor: Set to the cursor at that value, if there is one.
    private func store(
        _ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer, flags: Int32, found: inout MDB_val,
        by cursor: inout OpaquePointer?
    ) throws(StoreError) -> Int32 {
        cursor = nil
        var space: MDB_dbi = 0
        let opened = try open(try Records.space(of: key), &space)
        guard opened == MDB_SUCCESS else { return opened }
        var name = MDB_val(key)
        found = MDB_val(stored)
        let transaction = try transaction()
        guard cursors.keepsOne(of: space) else {
            return mdb_put(transaction, space, &name, &found, UInt32(flags))
        }
        let begun = cursors.take(space, in: transaction, &cursor)
        guard begun == MDB_SUCCESS else { return begun }
        return mdb_cursor_put(cursor, &name, &found, UInt32(flags))
    }

    /// Replaces the value at a cursor, which is positioned at this key.
    private static func replace(
        _ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer, at cursor: OpaquePointer
    ) -> Int32 {
        var name = MDB_val(key)
        var value = MDB_val(stored)
        return mdb_cursor_put(cursor, &name, &value, UInt32(MDB_CURRENT))
    }

    private func remove(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Int32 {
        guard let space = spaces[try Records.space(of: key)] else { return MDB_NOTFOUND }
        var name = MDB_val(key)
        return mdb_del(try transaction(), space, &name, nil)
    }

    /// Opens the database of a space, which is created if it does not exist.
    private func open(_ space: UInt32, _ handle: inout MDB_dbi) throws(StoreError) -> Int32 {
        if let known = spaces[space] {
            handle = known
            return MDB_SUCCESS
        }
        let result = mdb_dbi_open(try transaction(), SpaceName.of(space), UInt32(MDB_CREATE), &handle)
        if result == MDB_SUCCESS { spaces = spaces.adding(space, handle) }
        return result
    }

    private func transaction() throws(StoreError) -> OpaquePointer {
        guard let handle else { throw StoreError(.closed, "the transaction has ended", path: environment.path) }
        return handle
    }

    private var records: Records { Records(path: environment.path) }

    // MARK: Growing the map

    /// Grows the map, and replays all changes in a new transaction on the same snapshot.
    private func makeRoom() throws(StoreError) {
        while true {
            cursors.forget()
            try environment.growWithin(&handle, identifier: identifier, options)
            // Handles of spaces that the aborted transaction created are no longer valid.
            spaces = base
            let result = try replay()
            if result == MDB_SUCCESS { return }
            guard result == MDB_MAP_FULL else { throw environment.error(result, "the changes could not be replayed") }
        }
    }

    private func replay() throws(StoreError) -> Int32 {
        var failure: StoreError?
        var result = MDB_SUCCESS
        journal.replay { change in
            do throws(StoreError) {
                if let value = change.value {
                    result = try self.store(change.key, value)
                } else {
                    result = try self.remove(change.key)
                }
            } catch {
                failure = error
            }
            return result == MDB_SUCCESS && failure == nil
        }
        if let failure { throw failure }
        return result
    }
}

/// The cursors with which a transaction writes, one for each of the spaces written most recently.
///
/// A cursor stays on its page, so a change next to the last one, or in its place, needs no search from the root. LMDB
/// adjusts cursors when other changes move their entries.
struct WriteCursors {
    private var cursors: [(space: MDB_dbi, cursor: OpaquePointer)] = []
    /// A bit for each space written to; several spaces can share a bit.
    private var met: UInt64 = 0

    /// Few enough for a fast lookup, and enough for a table with its indexes.
    private static let maximum = 8

    /// Returns whether a space should have a cursor. The first change does not create one, because it is usually the
    /// only one.
    mutating func keepsOne(of space: MDB_dbi) -> Bool {
        let bit: UInt64 = 1 &<< UInt64(space)
        defer { met |= bit }
        return met & bit != 0
    }

    /// Sets `cursor` to the cursor of a space, which is opened if necessary. Returns an LMDB result code.
    mutating func take(_ space: MDB_dbi, in transaction: OpaquePointer, _ cursor: inout OpaquePointer?) -> Int32 {
        for known in cursors where known.space == space {
            cursor = known.cursor
            return MDB_SUCCESS
        }
        let result = mdb_cursor_open(transaction, space, &cursor)
        guard result == MDB_SUCCESS, let cursor else { return result }
        if cursors.count == Self.maximum { mdb_cursor_close(cursors.removeFirst().cursor) }
        cursors.append((space, cursor))
        return MDB_SUCCESS
    }

    /// Removes all cursors; called after the end of the transaction, which closes them.
    mutating func forget() { cursors.removeAll(keepingCapacity: true) }
}
