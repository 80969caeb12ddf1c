internal import Synchronization

/// A flag that is set once and read from several tasks.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Passes elements from several tasks to one that takes all that have arrived.
final class ResponseQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var taker: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func append(_ element: Element) {
        let taker = state.withLock { state in
            state.elements.append(element)
            return state.taker.take()
        }
        taker?.resume()
    }

    /// Returns all elements, as soon as there is at least one.
    func takeAll() async -> [Element] {
        await withCheckedContinuation { continuation in
            let isFilled = state.withLock { state in
                if state.elements.isEmpty { state.taker = continuation }
                return !state.elements.isEmpty
            }
            if isFilled { continuation.resume() }
        }
        return state.withLock { state in
            defer { state.elements = [] }
            return state.elements
        }
    }
}
