internal import Synchronization

/// Where the counter of operations was last left, and no operation was newer.
final class CheckedCounter: Sendable {
    private let last = Atomic(Int64.max)

    /// Whether a counter that stands at a number stands where it was left, or was only counted on since.
    func isRight(at number: Int64) -> Bool { number >= last.load(ordering: .relaxed) }

    /// Notes a number that the counter is raised to; should the transaction be dropped, the counter is lower than that, and
    /// is looked into again.
    func note(_ number: Int64) { last.store(number, ordering: .relaxed) }
}
