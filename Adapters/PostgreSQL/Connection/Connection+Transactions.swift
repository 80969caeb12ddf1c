internal import TidelineStore

extension Connection {
    /// The state of the store at the start of a transaction.
    struct Start {
        /// The generation of the definitions.
        var generation: Int64
        /// The number of commits that changed the store. In a write, its own commit is included.
        var commits: Int64
    }

    /// Applies the options that hold for the whole connection.
    func configure(_ options: PostgreSQLOptions) throws(StoreError) {
        let milliseconds = max(1, min(options.busyTimeout / .milliseconds(1), Double(Int32.max)))
        try execute("SET lock_timeout = \(Int32(milliseconds))", doing: "the server rejected a setting")
        if options.durability != .full {
            try execute("SET synchronous_commit = off")
        } else if try execute("SHOW synchronous_commit").text(0, 0) == "off" {
            try execute("SET synchronous_commit = on")
        }
    }

    /// Returns the durability of commits with the options of this connection and of the server.
    func durability(_ options: PostgreSQLOptions) throws(StoreError) -> StoreCapabilities.Durability {
        guard options.durability == .full else { return .normal }
        return try execute("SHOW fsync").text(0, 0) == "off" ? .normal : .full
    }

    /// Begins a read of one snapshot, which the first statement fixes.
    func beginReading(_ format: StoreFormat) throws(StoreError) -> Start {
        try start("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", format.selectStore, format)
    }

    /// Begins a write: changes the only row of the store's table first, and thus waits for the writers of all processes.
    ///
    /// Each statement of the transaction sees what was committed before it, and no other writer can commit. So nothing
    /// can fail because of concurrent changes until the end.
    func beginWriting(_ format: StoreFormat) throws(StoreError) -> Start {
        try start("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", format.lockStore, format)
    }

    /// Waits until the writes in progress have ended, if they do in time. Reports no error: a write reports the same one.
    func awaitWriters(_ format: StoreFormat) {
        if (try? beginWriting(format)) != nil { rollBack() }
    }

    private func start(_ begin: String, _ statement: String, _ format: StoreFormat) throws(StoreError) -> Start {
        func run() throws(StoreError) -> QueryRows {
            try self.runLater(begin)
            return try self.run(statement)
        }
        do throws(StoreError) {
            var rows = try run()
            if rows.count == 0 {
                // The snapshot can be older than the table, which another process has just created with its row.
                try execute("ROLLBACK")
                rows = try run()
            }
            guard rows.count == 1, let version = rows.int(0, 0), let generation = rows.int(0, 1),
                let commits = rows.int(0, 2)
            else { throw StoreError(.corrupt, "the store's row in tideline_store is missing", path: place) }
            try format.require(version, path: place)
            return Start(generation: generation, commits: commits)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Commits the transaction.
    func commit() throws(StoreError) {
        do throws(StoreError) {
            let command = try run("COMMIT", doing: "the server did not commit").command
            guard command == "COMMIT" else {
                throw StoreError(.io, "the server rolled the transaction back after an earlier error", path: place)
            }
        } catch {
            guard isLost else {
                rollBack()
                throw error
            }
            throw StoreError(
                .io,
                "the connection to the server was lost during a commit, and whether its changes are stored is not known; "
                    + "read them before you repeat the write", path: place, engineCode: error.engineCode, cause: error)
        }
    }

    /// Ends a transaction without its changes, or closes the connection if that is not possible, which has the same effect.
    func rollBack() {
        forgetWaiting()
        if isLost || isIdle { return }
        do { try execute("ROLLBACK") } catch { close() }
    }
}
