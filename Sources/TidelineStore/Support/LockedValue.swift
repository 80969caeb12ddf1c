/// A value protected by a lock that is held for a few instructions at a time, from any number of threads.
///
/// Every read of a store takes this lock. It is not a `Mutex`: on Linux, a `Mutex` hands ownership from one waiting
/// thread to the next (`FUTEX_LOCK_PI`). Once a thread is preempted while it holds such a lock, and more threads are
/// busy than there are processors, each use costs a context switch from then on. With eight threads on two processors,
/// that is a hundred times the cost of this lock.
///
/// `@unchecked Sendable`: the value is accessed only while the lock is held.
@usableFromInline
package final class LockedValue<Value>: @unchecked Sendable {
    @usableFromInline let lock = PlainLock()
    /// Unchecked, because the lock already guarantees exclusive access.
    @usableFromInline @exclusivity(unchecked) var value: Value

    @inlinable
    package init(_ value: Value) { unsafe self.value = value }

    /// Calls `body` with exclusive access to the value. `body` must not call this method on the same lock.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try unsafe body(&value)
    }
}
