#if Serve
internal import NIOCore
internal import Synchronization

/// The reads of a server that wait for a thread.
///
/// The threads receive no more reads than they can run at the same time, so that other work, such as commits, waits for
/// one read at most and not for all of them. Users or addresses share the time of the threads, and so do the
/// connections of each; see ``FairQueue``. None of them uses all threads, so that a read of another one begins at once.
final class ReadQueue: Sendable {
    /// A read that runs once, or is refused.
    final class Read: Sendable {
        /// A kind of read, on which its time depends.
        enum Kind: Sendable {
            /// One row, or the state of the store.
            case single
            /// Any number of rows of a table, which the path names.
            case page(String)
        }

        let kind: Kind
        let sharer: Sharer
        let isLimited: Bool
        fileprivate let run: @Sendable () -> Bool
        fileprivate let refuse: @Sendable () -> Void

        /// - Parameters:
        ///   - sharer: The sender of the request.
        ///   - isLimited: Whether the number of these reads is limited by the queue.
        ///   - refuse: Called instead of `run` if too many reads wait.
        ///   - run: Returns whether it has read, rather than refused to.
        init(
            _ kind: Kind, of sharer: Sharer, isLimited: Bool = true, orRefuse refuse: @escaping @Sendable () -> Void,
            _ run: @escaping @Sendable () -> Bool
        ) {
            self.kind = kind
            self.sharer = sharer
            self.isLimited = isLimited
            self.refuse = refuse
            self.run = run
        }
    }

    /// The maximum number of reads besides those that run.
    private let maximumWaiting: Int
    private let now: @Sendable () -> NIODeadline
    private let schedule: TableServer.Schedule
    private let state: Mutex<FairQueue>

    /// - Parameter schedule: Runs a closure on a thread that may block.
    init(
        maximumRunning: Int, maximumWaiting: Int, now: @escaping @Sendable () -> NIODeadline = { .now() },
        schedule: @escaping TableServer.Schedule
    ) {
        self.maximumWaiting = maximumWaiting
        self.now = now
        self.schedule = schedule
        state = Mutex(FairQueue(maximumRunning: maximumRunning))
    }

    /// Adds a read. If too many wait, refuses the last one of the user or address with the most, or of its connection
    /// with the most.
    func append(_ read: Read) {
        let (next, refused) = state.withLock { state in
            state.append(read)
            let next = state.startNext()
            return (next, state.limitedCount > maximumWaiting ? state.removeLastOfMost(after: read) : nil)
        }
        if let next { start(next) }
        refused?.refuse()
    }

    /// Removes a read whose client has gone away. Returns whether it was waiting; if so, it does not run.
    func remove(_ read: Read) -> Bool { state.withLock { $0.remove(read) } }

    private func start(_ read: Read) {
        schedule {
            let began = self.now()
            let time = read.run() ? Int((self.now() - began).nanoseconds) : nil
            var next = self.state.withLock { state in
                state.end(read, after: time)
                return state.startNext()
            }
            while let read = next {
                self.start(read)
                next = self.state.withLock { $0.startNext() }
            }
        }
    }
}
#endif
