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
            switch self {
            case .respond: self
            case .write(let write):
                .write(
                    PendingWrite(table: write.table, id: write.id, size: write.size) { transaction in
                        try transform(transaction) { try write.body(transaction) }
                    })
            }
        }
    }

    /// Runs writes in one transaction, and returns the outcome of each.
    ///
    /// If the store fails, each write runs in a transaction of its own, so that a row that the store refuses does not
    /// affect the others.
    ///
    /// - Parameter take: Returns the writes. Called once, when the transaction has begun, or if it cannot begin.
    func commit(_ take: () -> [PendingWrite<Store>]) -> [Result<TableResponse, any Error>] {
        var begun: [PendingWrite<Store>]?
        var end:
            (
                outcomes: [Result<TableResponse, any Error>], lastRow: WriteTransaction<Store>.WrittenRow?,
                clocks: [String: Timestamp]
            )?
        do {
            let outcomes = try store.write { writer in
                let writes = take()
                begun = writes
                let transaction = try WriteTransaction<Store>(writer, options, for: writes)
                let outcomes = try writes.map { try outcome(of: $0, in: transaction) }
                try transaction.finish()
                end = (outcomes, transaction.lastRow, transaction.clocks)
                return outcomes
            }
            if let end { changes.note(TableClocks(end.clocks)) }
            options.onCommit?(outcomes.count)
            return outcomes
        } catch {
            // A commit whose outcome is unknown may have succeeded.
            if let end, let row = end.lastRow, (try? isStored(row)) == true {
                changes.note(TableClocks(end.clocks))
                return end.outcomes
            }
            guard let begun, begun.count > 1 else { return (begun ?? take()).map { _ in .failure(error) } }
            return begun.flatMap { write in commit { [write] } }
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
    private func isStored(_ row: WriteTransaction<Store>.WrittenRow) throws -> Bool {
        try store.read { reader in
            try reader.withRow(in: row.table, id: row.id) { stored in
                stored["version"]?.string == row.version && stored["updatedAt"]?.timestamp == row.stamp
            } ?? false
        }
    }
}
