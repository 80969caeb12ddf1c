internal import CLMDB
public import TidelineKeyValue
public import TidelineStore

/// Reading and writing within one transaction of an ``LMDBEngine``.
///
/// It keeps its changes a second time in memory: when LMDB's map is full, the transaction is dropped, the map grows, and
/// the changes are made again.
public final class LMDBTransaction: KeyValueTransaction {
    // What changes is unchecked: nothing that is called while it is changed comes back to it, and the checks would cost
    // each change a tenth of its time.
    private let environment: Environment
    private let options: LMDBOptions
    /// LMDB's transaction; nil after it ended.
    @exclusivity(unchecked)
    private var handle: OpaquePointer?
    /// LMDB's number of it.
    private let identifier: Int
    /// The spaces there were when it began.
    private let base: SpaceTable
    /// Those and the ones it made.
    @exclusivity(unchecked)
    private var spaces: SpaceTable
    @exclusivity(unchecked)
    private var cursors = WriteCursors()
    @exclusivity(unchecked)
    private var journal = Journal()

    /// Begins a transaction; the caller has the writer's turn.
    init(in environment: Environment, options: LMDBOptions) throws(StoreError) {
        self.environment = environment
        self.options = options
        let (handle, base) = try environment.beginWriting(options)
        self.handle = handle
        identifier = mdb_txn_id(handle)
        self.base = base
        spaces = base
    }

    /// Drops what is not committed.
    func end() {
        mdb_txn_abort(handle)
        handle = nil
        cursors.forget()
    }

    /// Commits, with room made where that is needed.
    func commit() throws {
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

    public func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        guard let space = spaces[try Records.space(of: key)] else { return nil }
        guard let value = try Records.find(key, in: space, of: try transaction(), path: environment.path) else {
            return nil
        }
        return try body(value)
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        guard !range.isEmpty, let space = spaces[try Records.space(of: range)] else { return }
        var cursor: OpaquePointer?
        let result = mdb_cursor_open(try transaction(), space, &cursor)
        guard result == MDB_SUCCESS, let cursor else { throw environment.error(result, "a scan could not begin") }
        defer { mdb_cursor_close(cursor) }
        try records().scan(range, descending: descending, with: cursor, body)
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
            guard try replaces(try records().value(found)) else { return false }
            try changing { () throws(StoreError) in
                // Should room have to be made, no cursor stands anywhere afterwards.
                guard let cursor = place.take() else { return try self.store(key, stored) }
                return Self.replace(key, stored, at: cursor)
            }
        }
        journal.keep()
        return result == MDB_SUCCESS
    }

    /// Makes a change, with room made where that is needed.
    @discardableResult
    private func changing(
        orResult expected: Int32 = MDB_SUCCESS, _ change: () throws(StoreError) -> Int32
    ) throws(StoreError) -> Int32 {
        while true {
            let result = try change()
            if result == MDB_SUCCESS || result == expected { return result }
            guard result == MDB_MAP_FULL else { throw environment.error(result, "a change could not be made") }
            try makeRoom()
        }
    }

    // MARK: Steps

    /// What LMDB is to store of a value, valid until the next change: the value and its checksum, in the journal, where it
    /// stays if the change is made.
    private func prepare(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        guard key.count <= LMDBEngine.keyLimit else {
            throw StoreError(
                .invalidValue, "a key has \(key.count) bytes, over the \(LMDBEngine.keyLimit) that LMDB takes")
        }
        guard value.count <= Int(UInt32.max) - Checksum.size else {
            throw StoreError(.invalidValue, "a value of \(value.count) bytes is longer than LMDB takes")
        }
        return journal.preparePut(key, value)
    }

    private func store(_ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer) throws(StoreError) -> Int32 {
        var found = MDB_val()
        var cursor: OpaquePointer?
        return try store(key, stored, flags: 0, found: &found, by: &cursor)
    }

    /// Stores what ``prepare(_:_:)`` gave.
    ///
    /// - Parameters:
    ///   - found: Set to the value there is.
    ///   - cursor: Set to the cursor that stands there, if there is one.
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

    /// Stores in place of the value at which a cursor stands, which has this key.
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

    /// The handle of a space, which is made where there is none.
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

    private func records() throws(StoreError) -> Records {
        Records(transaction: try transaction(), path: environment.path)
    }

    // MARK: Room

    /// Lets the map grow, and makes all changes again in a new transaction on the same snapshot.
    private func makeRoom() throws(StoreError) {
        while true {
            cursors.forget()
            try environment.growWithin(&handle, identifier: identifier, options)
            // Handles of spaces that the dropped transaction made went with it.
            spaces = base
            let result = try replay()
            if result == MDB_SUCCESS { return }
            guard result == MDB_MAP_FULL else { throw environment.error(result, "changes could not be made again") }
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
