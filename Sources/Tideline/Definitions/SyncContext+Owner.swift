internal import TidelineStore

extension SyncContext {
    /// Throws unless the store belongs to this client's server and user. Called before anything is sent.
    func confirmOwner() async throws { _ = try await confirmOwner(ofQueue: false) }

    /// Throws unless the store belongs to this client's server and user. Called before operations are sent.
    ///
    /// Pending operations that nobody owns become those of the current user, whether or not the server responds: it may carry
    /// them out.
    func confirmOwnerOfQueue() async throws {
        guard try await confirmOwner(ofQueue: true) else { return }
        let owners = owners
        try await writing { writer in
            var own = owners.own
            own.server = nil
            if let owner = try owners.confirm(own, in: writer) { try owners.save(owner, in: writer) }
        }
    }

    /// - Returns: Whether there are pending operations that nobody owns.
    private func confirmOwner(ofQueue: Bool) async throws -> Bool {
        let (owners, operations) = (owners, operations)
        let (isNew, isUnowned) = try await reading { reader in
            let owner = try owners.confirm(owners.own, in: reader)
            try owners.requireSignIn(in: reader)
            guard let owner, ofQueue else { return (owner != nil, false) }
            let isUserNew = try !owner.hasSameUser(as: owners.recorded(in: reader))
            return (true, try isUserNew && operations.count(in: reader) > 0)
        }
        if isNew { recordsOwner = true }
        return isUnowned
    }

    /// Records server and user with the first response that a push stores, if they are not recorded yet. An address that
    /// never responds therefore does not become the owner of the store.
    func recordOwner(in writer: Writer) throws {
        if recordsOwner { try confirmOwner(in: writer) }
    }

    /// Throws unless the store belongs to this client's server and user, and records them if they are not recorded yet.
    ///
    /// Each transaction of a pull calls it, because another process may empty the store or switch its server during the
    /// pull. No process does so during a push of another one.
    func confirmOwner(in writer: Writer) throws {
        if let owner = try owners.confirm(owners.own, in: writer) { try owners.save(owner, in: writer) }
    }

    /// Assigns the store to this client's server and user, whatever its previous owner.
    ///
    /// Removes the rows of all synchronized tables, the tokens, and the error records in one transaction. The next
    /// pulls fetch the rows from this server. Waits for running pulls and a running push, also that of another process.
    /// - Parameter keepingPending: Whether pending operations and their rows are kept and pushed unchanged to this
    ///   server. Use `true` if the same data has moved to another address. An operation is in conflict if the new
    ///   server does not have its row in the base version.
    /// - Returns: The number of rows and operations removed.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationInFlight`` if a push has not ended cleanly;
    ///   ``SyncError/Code/invalidArgument`` if called within ``SyncContextDelegate/perform(_:)``. Nothing is changed
    ///   then.
    @discardableResult
    public func switchServer(keepingPending: Bool) async throws -> ForcePurgeResult {
        try await empty(keepingPending: keepingPending) { [owners] in owners.own }
    }

    /// Removes the rows of all synchronized tables, the pending operations, their errors, the records of decisions about
    /// conflicts, and the tokens, in one transaction. The store then belongs to the next server and user that use it.
    ///
    /// Waits for running pulls and a running push, also that of another process.
    /// - Returns: The number of rows and operations removed.
    /// - Throws: As ``switchServer(keepingPending:)``.
    @discardableResult
    public func wipe() async throws -> ForcePurgeResult { try await empty(keepingPending: false) { StoreOwner() } }

    private func empty(
        keepingPending: Bool, owner: @escaping @Sendable () -> StoreOwner
    ) async throws -> ForcePurgeResult {
        let definitions = definitions
        var tables = try await reading { try definitions.tableNames(in: $0) }
        while true {
            let known = tables
            let outcome = try await withExclusiveAccess(to: known) {
                // The push of another process would send operations to the previous server, or as the previous user.
                try await writingBetweenPushes { [self] writer in
                    try empty(known, keepingPending: keepingPending, owner: owner(), in: writer)
                }
            }
            switch outcome {
            case .done(let result): return result
            case .grown(let grown): tables = grown
            }
        }
    }

    /// Removes rows within a transaction, unless tables were defined that may be pulled at the same time.
    ///
    /// - Parameter known: The tables that are not pulled.
    private func empty(
        _ known: [String], keepingPending: Bool, owner: StoreOwner, in writer: Writer
    ) throws -> Emptying {
        guard clients.inFlight.isEmpty else {
            throw SyncError(.operationInFlight, "an operation is in flight; try again after the push ends")
        }
        // This process or another may have defined tables while this call waited.
        let tables = try definitions.tableNames(in: writer)
        guard Set(tables.map(RowID.string)).isSubset(of: known.map(RowID.string)) else { return .grown(tables) }
        var result = ForcePurgeResult()
        for table in tables {
            result.rows += try removeRows(of: table, keepingPending: keepingPending, in: writer)
        }
        if !keepingPending {
            result.operations = try writer.delete(matching: TableQuery(operations.tables.operations))
            try decisionStore.remove(in: writer)
        }
        try writer.delete(matching: TableQuery(operations.tables.errors))
        try tokens.removeAll(in: writer)
        try owners.save(owner, in: writer)
        return .done(result)
    }

    private func removeRows(of table: String, keepingPending: Bool, in writer: Writer) throws -> Int {
        guard keepingPending else { return try writer.delete(matching: TableQuery(table)) }
        let schema = try writer.schema(of: table)
        let pending = Set(try operations.operations(of: table, in: writer).map { Array($0.itemKey.utf8) })
        guard !pending.isEmpty else { return try writer.delete(matching: TableQuery(table)) }
        var ids: [RowID] = []
        try writer.scan(TableQuery(table)) { view in
            if !pending.contains(Array(schema.itemKey(view.idText).utf8)) { ids.append(view.id) }
            return .next
        }
        return try writer.delete(ids: ids, from: table)
    }
}

/// The outcome of a transaction that empties the store.
private enum Emptying: Sendable {
    case done(ForcePurgeResult)
    /// The store has more tables: these.
    case grown([String])
}
