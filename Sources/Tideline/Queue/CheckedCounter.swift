internal import Synchronization

/// From which number on the counter of operations is known to be no lower than the newest operation.
final class CheckedCounter: Sendable {
    private let least = Atomic(Int64.max)

    /// Whether a counter that stands at a number was found right there, or before and only counted on since.
    func isRight(at number: Int64) -> Bool { number >= least.load(ordering: .relaxed) }

    /// Notes a number that no operation exceeds; of a transaction that is dropped, too, as a counter that stands lower then
    /// is looked into again.
    func note(_ number: Int64) { least.store(number, ordering: .relaxed) }
}
