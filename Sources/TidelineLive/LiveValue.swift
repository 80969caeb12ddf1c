package import TidelineStore

/// A number that a query yields, observed: a sequence of its values, beginning with the current one.
///
/// A consumer that is slower than the commits receives the newest value. The sequence ends as a ``LiveQuery`` does.
public struct LiveValue<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    let query: TableQuery
    let open: @Sendable (LiveRegistration) async throws -> LiveHandle
    let value: @Sendable (Int) -> Element
    let mapError: @Sendable (any Error) -> any Error

    public func makeAsyncIterator() -> Iterator { Iterator(live: self) }

    /// The values for one consumer.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private let live: LiveValue
        private var handle: LiveHandle?
        private var last: Element?

        init(live: LiveValue) { self.live = live }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            do {
                if handle == nil {
                    guard !Task.isCancelled else { return nil }
                    handle = try await live.open(LiveRegistration(live.query, .count))
                }
                while let delivery = try await handle?.registration.mailbox.next(isolation: actor) {
                    guard let value = delivery.delta.matchingCount.map(live.value), value != last else { continue }
                    last = value
                    return value
                }
                return nil
            } catch {
                // A task that is cancelled while the query starts.
                if Task.isCancelled { return nil }
                throw live.mapError(error)
            }
        }

        /// Returns the newest value if it was not returned yet. The query must have been started.
        package mutating func takeValue() throws -> Element? {
            while let delivery = try handle?.registration.mailbox.take() {
                guard let value = delivery.delta.matchingCount.map(live.value), value != last else { continue }
                last = value
                return value
            }
            return nil
        }

        /// Starts the query on the calling thread.
        package mutating func start(in store: ObservedStore<some LocalStore>) throws {
            handle = try store.open(LiveRegistration(live.query, .count))
        }
    }
}

extension LiveValue {
    /// Creates a live value that ends with an error.
    package init(failing error: any Error, query: TableQuery, value: @escaping @Sendable (Int) -> Element) {
        self.init(query: query, open: { _ in throw error }, value: value, mapError: { $0 })
    }
}
