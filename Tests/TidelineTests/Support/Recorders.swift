import Synchronization

/// True the first time only; for what is to happen in the middle of the first exchange.
final class Once: Sendable {
    private let isUsed = Mutex(false)

    func first() -> Bool {
        isUsed.withLock { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
    }
}

/// Texts in the order in which they were added, `none` for nil.
final class HeaderLog: Sendable {
    private let list = Mutex<[String]>([])

    var values: [String] { list.withLock { $0 } }
    func add(_ text: String?) { list.withLock { $0.append(text ?? "none") } }
}

/// How many are inside at once, at most.
final class MaximumCount: Sendable {
    private let state = Mutex((now: 0, maximum: 0))

    var maximum: Int { state.withLock { $0.maximum } }
    func enter() { state.withLock { $0 = ($0.now + 1, max($0.maximum, $0.now + 1)) } }
    func leave() { state.withLock { $0.now -= 1 } }
}
