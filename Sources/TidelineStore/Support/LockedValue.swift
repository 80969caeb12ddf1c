#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A value behind a lock that every read of a store takes: for a few instructions, on any number of threads.
///
/// Not a `Mutex`, which on Linux is passed from one waiting thread to the next (`FUTEX_LOCK_PI`). Once a thread is stopped
/// while it has one, and more threads are busy than there are processors, each use costs a change of threads from then on: with
/// eight threads on two processors, a hundred times what it costs here.
///
/// `@unchecked Sendable`: the value is used under the lock only.
@usableFromInline
package final class LockedValue<Value>: @unchecked Sendable {
    @usableFromInline let lock = PlainLock()
    /// Unchecked: the lock excludes others already.
    @usableFromInline @exclusivity(unchecked) var value: Value

    @inlinable
    package init(_ value: Value) { self.value = value }

    /// Calls `body` with the value, while nobody else has it. It must not come back for it.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// A lock of the system, which whoever comes first gets.
///
/// `@unchecked Sendable`: the pointer never changes, and what it points to is for any thread.
@usableFromInline
package final class PlainLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    @usableFromInline
    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @usableFromInline
    package func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    package func unlock() { pthread_mutex_unlock(mutex) }
}
