public import TidelineStore
internal import TidelineWire

/// The rows of all pages of a query to the server; see ``RemoteTable/readAll(_:includeDeleted:parameters:)``.
///
/// One page is in memory at a time, and the next is asked for when its first row is. Each iteration reads anew.
///
/// An iteration throws as ``RemoteTable/read(_:includeDeleted:parameters:)``, and ``SyncError/Code/noProgress`` where the
/// server's links lead in a circle or to ten empty pages one after the other.
public struct RemoteRows<Store: LocalStore>: AsyncSequence, Sendable {
    public typealias Element = Row

    let table: RemoteTable<Store>
    let query: Query?
    let includeDeleted: Bool
    let parameters: RemoteTable<Store>.Parameters

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rows: self) }

    /// Reads page after page.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let rows: RemoteRows
        private var page: RemotePage?
        /// The position of the next row in the page.
        private var index = 0
        /// How many rows the query still wants; nil for all.
        private var remaining: Int?
        private var isFinished = false
        private var loops = LoopDetector()
        private var emptyPages = 0

        init(rows: RemoteRows) {
            self.rows = rows
            remaining = rows.query?.limit
        }

        public mutating func next() async throws -> Row? {
            while !isFinished, remaining ?? 1 > 0 {
                if let page, index < page.rows.count {
                    index += 1
                    remaining = remaining.map { $0 - 1 }
                    return page.rows[index - 1]
                }
                // A failure ends the sequence.
                isFinished = true
                guard let next = try await readPage() else { return nil }
                try note(next)
                (page, index, isFinished) = (next, 0, false)
            }
            return nil
        }

        private func readPage() async throws -> RemotePage? {
            if let page { return try await rows.table.read(after: page) }
            return try await rows.table.read(
                rows.query, includeDeleted: rows.includeDeleted, parameters: rows.parameters)
        }

        private mutating func note(_ page: RemotePage) throws {
            emptyPages = page.rows.isEmpty ? emptyPages + 1 : 0
            guard emptyPages < 10 || !page.hasNext else {
                throw noProgress("the server sends one empty page after another")
            }
            guard case .success(let next) = page.next, loops.note(next.target) > 0 else { return }
            throw noProgress("the server's links lead to the same page again")
        }

        private func noProgress(_ reason: String) -> SyncError {
            SyncError(.noProgress, "the rows cannot be read: \(reason)", table: rows.table.name)
        }
    }
}
