public import TidelineStore

/// A query whose result is observed: a sequence of updates, one for each commit that changes the result.
///
/// ```swift
/// for try await update in store.observe(TableQuery("TodoItem").order(by: "due").limit(50)) {
///     show(update.rows, update.changes)
/// }
/// ```
/// The first update has the result as of the start. A consumer that is slower than the commits receives the newest
/// result, with the changes of several commits merged. A consumer may write to the store in its loop.
///
/// Each iterator runs the query on its own. The sequence ends when the task is cancelled or the store is closed, and
/// with an error that concerns the whole query: one that the table cannot answer, or the store's end
/// (``StoreError/Code/closed``). A row that cannot be decoded does not end it (see ``LiveUpdate/failures``), unless the
/// error is a ``StoreError/Code/schemaMismatch``: the table lacks a column.
public struct LiveQuery<Element: Sendable>: AsyncSequence, Sendable {
    /// The query.
    public let query: TableQuery
    let open: @Sendable (LiveRegistration) async throws -> LiveHandle
    let decode: @Sendable (Row) throws -> Element
    let mapError: @Sendable (any Error) -> any Error

    /// Returns the live query with its rows decoded by a closure, which runs in the consumer's task, once for each
    /// changed row.
    public func map<T>(_ transform: @escaping @Sendable (Element) throws -> T) -> LiveQuery<T> {
        let decode = decode
        return LiveQuery<T>(
            query: query, open: open, decode: { try transform(decode($0)) }, mapError: mapError)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(live: self) }

    /// The updates for one consumer.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private let live: LiveQuery
        private var handle: LiveHandle?
        private var builder: ResultBuilder<Element>

        init(live: LiveQuery) {
            self.live = live
            builder = ResultBuilder(table: live.query.table, decode: live.decode)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> LiveUpdate<Element>? {
            do {
                if handle == nil {
                    guard !Task.isCancelled else { return nil }
                    handle = try await live.open(LiveRegistration(live.query))
                }
                while let delivery = try await handle?.registration.mailbox.next(isolation: actor) {
                    if let update = try builder.apply(delivery) { return update }
                }
                return nil
            } catch {
                handle?.registration.mailbox.finish(nil)
                // A task that is cancelled while the query starts.
                if Task.isCancelled { return nil }
                throw live.mapError(error)
            }
        }

        /// Returns the next update if there is one already. The query must have been started.
        package mutating func takeUpdate() throws -> LiveUpdate<Element>? {
            while let delivery = try handle?.registration.mailbox.take() {
                if let update = try builder.apply(delivery) { return update }
            }
            return nil
        }

        /// Starts the query on the calling thread.
        package mutating func start(in store: ObservedStore<some LocalStore>) throws {
            handle = try store.open(LiveRegistration(live.query))
        }
    }
}

extension LiveQuery where Element == Row {
    /// Creates a live query that ends with an error.
    package init(failing error: any Error, query: TableQuery) {
        self.init(query: query, open: { _ in throw error }, decode: { $0 }, mapError: { $0 })
    }
}

/// A registered live query, which is removed when its consumer releases it.
package final class LiveHandle: Sendable {
    package let registration: LiveRegistration
    private let hub: ObservationHub

    init(_ registration: LiveRegistration, _ hub: ObservationHub) {
        self.registration = registration
        self.hub = hub
    }

    deinit { hub.remove(registration) }
}
