internal import Synchronization

/// The last operation number that this process assigned, used to detect a counter that was lost or reset.
final class SequenceCounter: Sendable {
    private let last = Atomic(Int64.max)

    /// Returns whether a stored counter is at least the last number assigned here.
    func isAtLeast(_ number: Int64) -> Bool { number >= last.load(ordering: .relaxed) }

    /// Records a number that was assigned. If the transaction rolls back, the stored counter is lower and is verified
    /// again.
    func note(_ number: Int64) { last.store(number, ordering: .relaxed) }
}
