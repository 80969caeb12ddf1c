public import TidelineStore
internal import TidelineWire

extension RemoteTable {
    /// The rows of all pages of a query to the server; see ``readAll(_:includeDeleted:parameters:)``.
    ///
    /// One page is in memory at a time. The next page is requested when its first row is needed. Each iteration reads
    /// from the beginning.
    ///
    /// An iteration throws as ``read(_:includeDeleted:parameters:)`` does, and ``SyncError/Code/noProgress`` if
    /// the server's links form a cycle or lead to ten empty pages in a row.
    public struct Rows: AsyncSequence, Sendable {
        public typealias Element = Row

        let table: RemoteTable
        let query: TableQuery?
        let includeDeleted: Bool
        let parameters: Parameters

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rows: self) }

        /// Reads one page after another.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let rows: Rows
            private var page: Page?
            /// The position of the next row in the page.
            private var index = 0
            /// The number of rows still to return, or `nil` for all rows.
            private var remaining: Int?
            private var isFinished = false
            private var loops = LoopDetector()
            private var emptyPages = 0

            init(rows: Rows) {
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

            private func readPage() async throws -> Page? {
                if let page { return try await rows.table.read(after: page) }
                return try await rows.table.read(
                    rows.query, includeDeleted: rows.includeDeleted, parameters: rows.parameters)
            }

            private mutating func note(_ page: Page) throws {
                emptyPages = page.rows.isEmpty ? emptyPages + 1 : 0
                guard emptyPages < 10 || !page.hasNext else {
                    throw noProgress("the server returned too many empty pages in a row")
                }
                guard case .success(let next) = page.next, loops.note(next.target) > 0 else { return }
                throw noProgress("the server's next-page links form a cycle")
            }

            private func noProgress(_ reason: String) -> SyncError {
                SyncError(.noProgress, "the rows cannot be read: \(reason)", table: rows.table.name)
            }
        }
    }
}
