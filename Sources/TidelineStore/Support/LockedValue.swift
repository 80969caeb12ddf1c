#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

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

/// A lock of the operating system without a queue: any waiting thread may acquire it next.
///
/// `@unchecked Sendable`: the pointer never changes, and the mutex it points to may be used from any thread.
@usableFromInline
@safe
package final class PlainLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    @usableFromInline
    package init() {
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    @usableFromInline
    package func lock() { unsafe pthread_mutex_lock(mutex) }

    @usableFromInline
    package func unlock() { unsafe pthread_mutex_unlock(mutex) }
}
