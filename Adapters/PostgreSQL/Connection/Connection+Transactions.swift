internal import TidelineStore

extension Connection {
    /// The state of the store at the start of a transaction.
    struct Start {
        var generation: Int64
        /// The number of commits that changed the store. In a write, its own commit is included.
        var commits: Int64
    }

    /// Settings of transactions. None is a setting of the session, which a pooler would pass on to other clients.
    struct Settings {
        /// The statements at the beginning of each read.
        fileprivate(set) var reading: [String] = []
        /// The statements at the beginning of each write.
        fileprivate(set) var writing: [String] = []
        /// The limit for the beginning of a transaction, which can wait for a lock.
        fileprivate(set) var beginning = Limit.serverResponds
        /// The time limit for a statement about single rows.
        fileprivate(set) var rows = Duration.zero
        /// The limit for the end of a transaction.
        fileprivate(set) var ending = Limit.serverResponds
    }

    /// Prepares the connection for transactions with these options.
    func configure(_ options: PostgreSQLOptions) throws(StoreError) {
        let session = try execute("SELECT pg_backend_pid(), current_setting('synchronous_commit')")
        findPooler(session.text(0, 0))
        let milliseconds = max(1, min(options.busyTimeout / .milliseconds(1), Double(Int32.max)))
        let lockTimeout = "SET LOCAL lock_timeout = \(Int32(milliseconds))"
        settings.reading = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", lockTimeout]
        settings.writing = ["BEGIN ISOLATION LEVEL READ COMMITTED", lockTimeout]
        settings.beginning = .time(max(options.responseTimeout, options.busyTimeout + .seconds(1)))
        settings.rows = options.responseTimeout * 2
        settings.ending = .time(options.responseTimeout * 2)
        let durability = session.text(0, 1) ?? "on"
        if options.durability != .full {
            settings.writing.append("SET LOCAL synchronous_commit = off")
        } else if durability == "off" {
            settings.writing.append("SET LOCAL synchronous_commit = on")
        } else if isPooled {
            // Another client of the pooler may have lowered it for the session.
            settings.writing.append("SET LOCAL synchronous_commit = \(durability)")
        }
    }

    /// Returns the durability of commits with the options of this connection and of the server.
    func durability(_ options: PostgreSQLOptions) throws(StoreError) -> StoreCapabilities.Durability {
        guard options.durability == .full else { return .normal }
        return try execute("SHOW fsync").text(0, 0) == "off" ? .normal : .full
    }

    /// Begins a read of one snapshot, which the first statement fixes.
    func beginReading(_ format: StoreFormat) throws(StoreError) -> Start {
        try start(settings.reading, format.selectStore, format)
    }

    /// Begins a write: changes the only row of the store's table first, and thus waits for the writers of all
    /// processes.
    ///
    /// Each statement of the transaction sees what was committed before it, and no other writer can commit. So nothing
    /// can fail because of concurrent changes until the end. The transaction is not declared to write, so that a server
    /// whose operator has stopped writes by `default_transaction_read_only` refuses it.
    func beginWriting(_ format: StoreFormat) throws(StoreError) -> Start {
        try start(settings.writing, format.lockStore, format)
    }

    /// Runs `body` in a transaction that does not depend on the store.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        limit = settings.beginning
        try execute(settings.writing.joined(separator: "; "))
        limit = .serverResponds
        do throws(StoreError) {
            try body()
            try commit()
        } catch {
            rollBack()
            throw error
        }
    }

    /// Waits until the writes in progress have ended, if they do in time. Reports no error: a write reports the same
    /// one.
    func awaitWriters(_ format: StoreFormat) {
        if (try? beginWriting(format)) != nil { rollBack() }
    }

    private func start(
        _ begin: [String], _ statement: String, _ format: StoreFormat
    ) throws(StoreError) -> Start {
        func run() throws(StoreError) -> QueryRows {
            for statement in begin { try self.runLater(statement) }
            return try self.run(statement)
        }
        limit = settings.beginning
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
            limit = .serverResponds
            return Start(generation: generation, commits: commits)
        } catch {
            rollBack()
            throw error
        }
    }

    func commit() throws(StoreError) {
        limit = settings.ending
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

    /// Ends a transaction without its changes, or closes the connection if that is not possible, which has the same
    /// effect.
    func rollBack() {
        forgetWaiting()
        if isLost || isIdle { return }
        limit = settings.ending
        do { try execute("ROLLBACK") } catch { close() }
    }
}
