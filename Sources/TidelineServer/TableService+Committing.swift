internal import TidelineStore
internal import TidelineWire

extension TableService {
    /// The next step of a request: its response, or a write that leads to it.
    enum WriteStep: Sendable {
        case respond(TableResponse)
        case write(PendingWrite<Store>)

        /// Returns the step with another response.
        ///
        /// - Parameter transform: Receives the transaction of a write, and a function that runs it.
        func map(
            _ transform:
                @escaping @Sendable (WriteTransaction<Store>, () throws -> TableResponse) throws -> TableResponse
        ) -> WriteStep {
            guard case .write(var write) = self else { return self }
            write.body = { [body = write.body] transaction in try transform(transaction) { try body(transaction) } }
            return .write(write)
        }
    }

    /// Runs writes in one transaction, and returns the outcome of each.
    ///
    /// If the store fails, each write runs in a transaction of its own, so that a row that the store refuses does not
    /// affect the others. Writes whose commit may have succeeded are never repeated: each has the error then.
    ///
    /// - Parameter take: Returns the writes. Called once, when the transaction has begun, or if it cannot begin.
    func commit(_ take: () -> [PendingWrite<Store>]) -> [Result<TableResponse, any Error>] {
        var begun: [PendingWrite<Store>]?
        var end:
            (
                outcomes: [Result<TableResponse, any Error>], lastRow: WriteTransaction<Store>.WrittenRow?,
                clocks: TableClocks
            )?
        do {
            let outcomes = try store.write { writer in
                let writes = take()
                begun = writes
                try writer.limitTime?(max(options.maximumQueryTime, Self.minimumWriteTime))
                let transaction = try WriteTransaction<Store>(writer, options, for: writes)
                let outcomes = try writes.map { try outcome(of: $0, in: transaction) }
                try transaction.finish()
                end = (outcomes, transaction.lastRow, transaction.tableClocks)
                return outcomes
            }
            if let end { changes.note(end.clocks) }
            options.onCommit?(outcomes.count)
            return outcomes
        } catch {
            // The outcome of a commit that ends with this error is not known.
            let mayBeStored = end != nil && (error as? StoreError)?.code == .io
            if mayBeStored, let end, let row = end.lastRow, (try? isStored(row)) == true {
                changes.note(end.clocks)
                return end.outcomes
            }
            guard let begun, begun.count > 1, !mayBeStored else {
                return (begun ?? take()).map { _ in .failure(error) }
            }
            return commitEach(begun)
        }
    }

    /// The least time limit for the queries of a transaction, which can have many writes.
    private static var minimumWriteTime: Duration { .seconds(5) }

    /// Runs each write in a transaction of its own, until the store cannot be written: the others would wait for as
    /// long, one after the other.
    private func commitEach(_ writes: [PendingWrite<Store>]) -> [Result<TableResponse, any Error>] {
        var failure: StoreError?
        return writes.map { write in
            if let failure { return .failure(failure) }
            let outcome = commit { [write] }[0]
            if case .failure(let error as StoreError) = outcome, [.io, .busy, .timeLimit].contains(error.code) {
                failure = error
            }
            return outcome
        }
    }

    /// Returns the outcome of one write. Throws if the transaction must be rolled back.
    private func outcome(
        of write: PendingWrite<Store>, in transaction: WriteTransaction<Store>
    ) throws -> Result<TableResponse, any Error> {
        let changes = transaction.changes
        do {
            try transaction.requireCurrent(write.table)
            return .success(try write.body(transaction))
        } catch let error
            where transaction.changes == changes
            && (error is RequestRejection || error is WireError || error is OutdatedDefinition)
        {
            return .failure(error)
        }
    }

    /// Returns whether the store has a row as a transaction has written it.
    ///
    /// A write waits for the commit in question, if it is still in progress, and, because it changes something, for the
    /// replicas that the commit should have waited for.
    private func isStored(_ row: WriteTransaction<Store>.WrittenRow) throws -> Bool {
        try store.write { writer in
            let isStored = try writer.withRow(in: row.table, id: row.id) { stored in
                stored["version"]?.string == row.version && stored["updatedAt"]?.timestamp == row.stamp
            }
            guard isStored == true, let clock = try ServedTableRecord.clock(of: row.table, in: writer) else {
                return false
            }
            try ServedTableRecord.setClock(of: row.table, to: clock, in: writer)
            return true
        }
    }
}
