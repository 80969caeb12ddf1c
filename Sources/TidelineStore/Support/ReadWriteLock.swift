internal import Foundation
internal import Synchronization

/// A lock for the reads and writes of a store, which also closes the store.
///
/// Reads run concurrently with each other and with one write. Writes run one at a time in the order of their requests.
/// No work begins after ``close(_:)``. ``withExclusiveAccess(within:to:path:_:)`` waits until nothing else runs. Every
/// read acquires the lock, so an uncontended read or write takes only one short critical section at each end.
package final class ReadWriteLock: Sendable {
    /// The work that may run at the same time.
    package struct Policy: Sendable {
        /// The maximum number of concurrent reads. A thread that already reads or writes does not wait, because other
        /// threads may wait for it.
        package var maximumReaders = Int.max
        /// Whether reads and writes of different threads exclude each other.
        package var admitsOneThread = false
        /// Whether a thread may begin a write inside a read.
        package var allowsWritesInsideReads = false
        /// The maximum number of idle resources that are kept for later reads.
        package var maximumIdle = 0

        package init() {}
    }

    /// A read that has begun.
    package struct Admission {
        /// An idle resource for the read, if there is one.
        package let idle: AnyObject?
        /// Whether the thread was already reading. Known only if the policy admits one thread.
        package let isNested: Bool
    }

    fileprivate struct State {
        /// The thread of each active read.
        var readers: [UInt] = []
        var writer: UInt?
        /// The ticket number of the next writer, and the number that is served.
        var nextTurn = 0
        var turn = 0
        /// The number of threads that have or await exclusive access. New work waits for them.
        var exclusiveCount = 0
        var isExclusive = false
        var isClosed = false
        /// The number of threads that wait for a change of the state.
        var waiting = 0
        /// Resources of earlier reads, kept here so that a read acquires only this lock.
        var idle: [AnyObject] = []
    }

    private let policy: Policy
    private let state: LockedValue<State>
    /// The condition that blocked threads wait for.
    ///
    /// A thread that makes progress possible for others signals the condition after it has released `state`. Waiting
    /// threads check the state while they hold the condition's lock, so no wakeup is lost.
    private let condition = NSCondition()
    /// Whether the store's resources were released.
    private let isReleased = Mutex(false)
    private let process = OpeningProcess()

    /// Creates a lock.
    ///
    /// - Parameter idle: Idle resources that are available for reads.
    package init(_ policy: Policy = Policy(), idle: [AnyObject] = []) {
        self.policy = policy
        state = LockedValue(State(idle: idle))
    }

    // MARK: Reading

    /// Begins a read, after other work has ended if the policy or a thread with exclusive access requires it.
    @discardableResult
    package func beginReading() throws(StoreError) -> Admission {
        try requireOwnProcess()
        let thread = currentThread()
        let admission = try state.withLock { state throws(StoreError) in try state.admitReader(thread, policy) }
        if let admission { return admission }
        return try wait { state throws(StoreError) in try state.admitReader(thread, self.policy) }
    }

    package func endReading() {
        let thread = currentThread()
        change { $0.removeReader(thread) }
    }

    /// Ends a read and keeps its resource for a later one.
    ///
    /// - Parameter discard: Called before the read ends if the resource is not kept.
    package func endReading(keeping resource: AnyObject, orDiscard discard: () -> Void) {
        let thread = currentThread()
        let isKept = change { state in
            guard state.idle.count < policy.maximumIdle else { return false }
            state.idle.append(resource)
            state.removeReader(thread)
            return true
        }
        if isKept { return }
        discard()
        endReading()
    }

    /// Removes all idle resources and returns them.
    package func removeIdle() -> [AnyObject] {
        state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
    }

    // MARK: Writing

    /// Begins a write, after earlier ones have ended.
    ///
    /// - Throws: ``StoreError/Code/busy`` inside a write of the same thread and, unless the policy allows it, inside a
    ///   read; ``StoreError/Code/closed``.
    package func beginWriting() throws(StoreError) {
        try requireOwnProcess()
        let thread = currentThread()
        let (number, isAdmitted) = try state.withLock { state throws(StoreError) in
            let number = try state.takeTicket(thread, policy)
            return (number, try state.admitWriter(number, thread, policy) != nil)
        }
        guard !isAdmitted else { return }
        try wait { state throws(StoreError) in try state.admitWriter(number, thread, self.policy) }
    }

    package func endWriting() {
        change { state in
            state.writer = nil
            state.turn += 1
        }
    }

    /// The number of writers that are waiting. Tests of waiting writers need it.
    package var waitingWriterCount: Int {
        state.withLock { $0.nextTurn - $0.turn - ($0.writer == nil ? 0 : 1) }
    }

    // MARK: Exclusive access

    /// Runs `body` while no other thread reads or writes. The caller may be inside its own write.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for reads and writes in flight.
    ///   - purpose: The reason for error messages, such as "grow the map".
    ///   - path: The path of the store, for error messages.
    /// - Throws: ``StoreError/Code/busy`` inside a read of the same thread, or if reads or writes did not end in time;
    ///   ``StoreError/Code/closed``; the error of `body`.
    package func withExclusiveAccess<T>(
        within timeout: Duration, to purpose: String, path: String, _ body: () throws(StoreError) -> T
    ) throws(StoreError) -> T {
        let thread = currentThread()
        try state.withLock { state throws(StoreError) in
            guard !state.readers.contains(thread) else {
                throw StoreError(
                    .busy, "the store has to \(purpose) inside a read of the same thread; end the read first",
                    path: path)
            }
            state.exclusiveCount += 1
        }
        var isAdmitted = false
        defer {
            change { state in
                state.exclusiveCount -= 1
                if isAdmitted { state.isExclusive = false }
            }
        }
        isAdmitted = try waitForExclusiveAccess(thread, within: timeout)
        guard isAdmitted else {
            throw StoreError(
                .busy,
                "the store has to \(purpose), but reads or writes in flight did not end in time; end them and try again",
                path: path)
        }
        return try body()
    }

    // MARK: Closing

    /// Rejects further work, waits for operations in progress, and calls `release` once.
    ///
    /// In a child of the process that opened the store, closing it has no effect: its resources belong to the parent.
    /// - Throws: ``StoreError/Code/busy`` inside a read or write of the same thread; the error of `release`.
    package func close(_ release: () throws -> Void) throws {
        guard isInOwnProcess else { return }
        let thread = currentThread()
        try state.withLock { state throws(StoreError) in
            guard !state.isInside(thread) else {
                throw StoreError(
                    .busy, "the store was closed inside a read or write of the same store on the same thread")
            }
            state.isClosed = true
        }
        wake()
        try wait { state throws(StoreError) in state.isQuiet ? () : nil }
        try isReleased.withLock { isReleased in
            guard !isReleased else { return }
            isReleased = true
            try release()
        }
    }

    // MARK: Processes

    /// Whether this process opened the store.
    package var isInOwnProcess: Bool { !process.isForked }

    /// Throws an error in a child of the process that opened the store. The state of the lock may be that of a thread
    /// that the child does not have.
    private func requireOwnProcess() throws(StoreError) {
        guard isInOwnProcess else {
            throw StoreError(
                .closed,
                "the store was opened before this process was forked from another; use it there, or open it after exec")
        }
    }

    // MARK: Waiting

    /// Changes the state, and wakes waiting threads.
    private func change<T>(_ change: (inout State) -> T) -> T {
        let (result, isAwaited) = state.withLock { (change(&$0), $0.waiting > 0) }
        if isAwaited { wake() }
        return result
    }

    private func wake() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Waits until `admit` returns a value.
    private func wait<T>(_ admit: (inout State) throws(StoreError) -> T?) throws(StoreError) -> T {
        condition.lock()
        defer { condition.unlock() }
        state.withLock { $0.waiting += 1 }
        defer { state.withLock { $0.waiting -= 1 } }
        while true {
            let admission = try state.withLock { state throws(StoreError) in try admit(&state) }
            if let admission { return admission }
            condition.wait()
        }
    }

    /// Waits for exclusive access, and returns whether it began in time.
    ///
    /// The state is polled. The condition could wait until a time of the system's clock, which can be set back.
    private func waitForExclusiveAccess(_ thread: UInt, within timeout: Duration) throws(StoreError) -> Bool {
        let start = ContinuousClock.now
        while true {
            let isAdmitted = try state.withLock { state throws(StoreError) in try state.admitExclusive(thread) }
            if isAdmitted { return true }
            let waited = start.duration(to: .now)
            guard waited < timeout else { return false }
            Thread.sleep(forTimeInterval: waited < .milliseconds(5) ? 0.000_1 : 0.002)
        }
    }
}

extension ReadWriteLock.State {
    private static let closed = StoreError(.closed, "the store is closed")

    func isInside(_ thread: UInt) -> Bool { writer == thread || readers.contains(thread) }

    /// Whether nothing is in flight.
    var isQuiet: Bool { writer == nil && readers.isEmpty && !isExclusive }

    /// Admits a read, or returns `nil` if it has to wait.
    mutating func admitReader(
        _ thread: UInt, _ policy: ReadWriteLock.Policy
    ) throws(StoreError) -> ReadWriteLock.Admission? {
        guard !isClosed else { throw Self.closed }
        guard !policy.admitsOneThread else { return try admitOnlyReader(thread) }
        if exclusiveCount > 0 || readers.count >= policy.maximumReaders {
            guard isInside(thread) else { return nil }
        }
        readers.append(thread)
        return ReadWriteLock.Admission(idle: idle.popLast(), isNested: false)
    }

    private mutating func admitOnlyReader(_ thread: UInt) throws(StoreError) -> ReadWriteLock.Admission? {
        guard writer != thread else {
            throw StoreError(.busy, "a read began inside a write of the same store in memory on the same thread")
        }
        let isNested = readers.contains(thread)
        guard isNested || isQuiet else { return nil }
        readers.append(thread)
        return ReadWriteLock.Admission(idle: idle.popLast(), isNested: isNested)
    }

    mutating func removeReader(_ thread: UInt) {
        guard let last = readers.last else { return }
        // Usually the list has only one reader.
        if last != thread, let index = readers.lastIndex(of: thread) { readers[index] = last }
        readers.removeLast()
    }

    /// Returns the number of a write that is requested.
    mutating func takeTicket(_ thread: UInt, _ policy: ReadWriteLock.Policy) throws(StoreError) -> Int {
        guard !isClosed else { throw Self.closed }
        guard writer != thread, policy.allowsWritesInsideReads || !readers.contains(thread) else {
            throw StoreError(.busy, "a write began inside a read or write of the same store on the same thread")
        }
        nextTurn += 1
        return nextTurn - 1
    }

    /// Admits a write, or returns `nil` if it has to wait.
    mutating func admitWriter(_ number: Int, _ thread: UInt, _ policy: ReadWriteLock.Policy) throws(StoreError) -> Void?
    {
        guard !isClosed else { throw Self.closed }
        guard turn == number, !policy.admitsOneThread || readers.isEmpty else { return nil }
        guard exclusiveCount == 0 || readers.contains(thread) else { return nil }
        writer = thread
        return ()
    }

    /// Returns whether exclusive access begins.
    mutating func admitExclusive(_ thread: UInt) throws(StoreError) -> Bool {
        guard !isClosed else { throw Self.closed }
        guard !isExclusive, readers.isEmpty, writer == nil || writer == thread else { return false }
        isExclusive = true
        return true
    }
}
