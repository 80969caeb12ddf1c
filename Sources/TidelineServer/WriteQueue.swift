internal import TidelineStore

/// A write of a request that was read and checked, and needs a transaction.
struct PendingWrite<Store: LocalStore>: Sendable {
    /// The table, with all columns of the row.
    let table: ServedTable
    let id: RowID
    /// The size of the request's body in bytes.
    let size: Int
    /// The column and the value of the rows that the sender may see, or `nil` if they are all rows.
    let owner: (column: String, userID: String)?
    /// Returns the response. Throws before it changes anything, or because the store failed.
    var body: @Sendable (WriteTransaction<Store>) throws -> TableResponse
}

/// The writes that wait for a transaction. The next one commits them together, also those that arrive while it waits
/// for other processes to begin.
///
/// A write that finds no transaction in progress does not wait for others.
final class WriteQueue<Store: LocalStore>: Sendable {
    struct Entry: Sendable {
        let write: PendingWrite<Store>
        let completion: @Sendable (Result<TableResponse, any Error>) -> Void
    }

    private struct State {
        var entries: [Entry] = []
        var isCommitting = false
    }

    private let state = LockedValue(State())

    /// The maximum number of writes in a transaction, so that a store does not keep other processes waiting for long.
    static var maximumCount: Int { 256 }
    /// The maximum total size in bytes of the bodies in a transaction of several writes.
    static var maximumSize: Int { 4 << 20 }

    /// Adds a write.
    ///
    /// - Returns: Whether the caller has to commit the groups, until ``hasNext()`` is false.
    func append(_ entry: Entry) -> Bool {
        state.withLock { state in
            state.entries.append(entry)
            defer { state.isCommitting = true }
            return !state.isCommitting
        }
    }

    /// Returns whether a write waits. If not, the next one that is added finds no transaction in progress.
    func hasNext() -> Bool {
        state.withLock { state in
            state.isCommitting = !state.entries.isEmpty
            return state.isCommitting
        }
    }

    /// Removes and returns the writes for a transaction that has begun, in the order of their arrival.
    func nextGroup() -> [Entry] {
        state.withLock { state in
            var (count, size) = (0, 0)
            for entry in state.entries.prefix(Self.maximumCount) {
                size += entry.write.size
                guard count == 0 || size <= Self.maximumSize else { break }
                count += 1
            }
            defer { state.entries.removeFirst(count) }
            return Array(state.entries.prefix(count))
        }
    }
}
