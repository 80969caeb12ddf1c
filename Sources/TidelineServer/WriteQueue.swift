internal import Synchronization
internal import TidelineStore

/// A write of a request that was read and checked, and needs a transaction.
struct PendingWrite<Store: LocalStore>: Sendable {
    /// The table, with all columns of the row.
    let table: ServedTable
    /// The id of the row.
    let id: RowID
    /// The size of the request's body in bytes.
    let size: Int
    /// Returns the response. Throws before it changes anything, or because the store failed.
    let body: @Sendable (WriteTransaction<Store>) throws -> TableResponse
}

/// The writes that wait for the transaction in progress. The next transaction commits them together.
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

    private let state = Mutex(State())

    /// The maximum number of writes in a transaction, so that a store does not keep other processes waiting for long.
    static var maximumCount: Int { 256 }
    /// The maximum total size in bytes of the bodies in a transaction of several writes.
    static var maximumSize: Int { 4 << 20 }

    /// Adds a write.
    ///
    /// - Returns: Whether the caller has to commit the groups, until ``nextGroup()`` returns `nil`.
    func append(_ entry: Entry) -> Bool {
        state.withLock { state in
            state.entries.append(entry)
            defer { state.isCommitting = true }
            return !state.isCommitting
        }
    }

    /// Returns the writes for the next transaction, in the order of their arrival, or `nil` if none waits.
    func nextGroup() -> [Entry]? {
        state.withLock { state in
            var (count, size) = (0, 0)
            for entry in state.entries.prefix(Self.maximumCount) {
                size += entry.write.size
                guard count == 0 || size <= Self.maximumSize else { break }
                count += 1
            }
            state.isCommitting = count > 0
            guard count > 0 else { return nil }
            defer { state.entries.removeFirst(count) }
            return Array(state.entries.prefix(count))
        }
    }
}
