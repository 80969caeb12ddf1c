#if Serve
internal import NIOCore
internal import Synchronization

/// The reads of a server that wait for a thread.
///
/// The threads receive no more reads than they can run at the same time, so that other work, such as commits, waits for one read at
/// most and not for all of them.
final class ReadQueue: Sendable {
    /// A read that runs once, unless it is removed before.
    final class Read: Sendable {
        fileprivate let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private struct State {
        var runningCount = 0
        var waiting = CircularBuffer<Read>()
    }

    private let maximumRunning: Int
    private let maximumWaiting: Int
    private let schedule: TableServer.Schedule
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximumRunning: The maximum number of reads that run at the same time.
    ///   - maximumWaiting: The maximum number of further reads.
    ///   - schedule: Runs a closure on a thread that may block.
    init(maximumRunning: Int, maximumWaiting: Int, schedule: @escaping TableServer.Schedule) {
        self.maximumRunning = maximumRunning
        self.maximumWaiting = maximumWaiting
        self.schedule = schedule
    }

    /// Adds a read, which runs after those that wait. Returns `false` and adds nothing if too many wait.
    func append(_ read: Read) -> Bool {
        let isAdmitted = state.withLock { state in
            guard state.runningCount < maximumRunning || state.waiting.count < maximumWaiting else { return false }
            state.waiting.append(read)
            return true
        }
        if isAdmitted { startNext() }
        return isAdmitted
    }

    /// Removes a read whose client has gone away. Returns whether it was waiting; if so, it does not run.
    func remove(_ read: Read) -> Bool {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0 === read }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
    }

    private func startNext() {
        let next = state.withLock { state -> Read? in
            guard state.runningCount < maximumRunning, let read = state.waiting.popFirst() else { return nil }
            state.runningCount += 1
            return read
        }
        guard let next else { return }
        schedule {
            next.run()
            self.state.withLock { $0.runningCount -= 1 }
            self.startNext()
        }
    }
}
#endif
