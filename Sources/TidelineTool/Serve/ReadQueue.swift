#if Serve
internal import NIOCore
internal import Synchronization

/// The reads of a server that wait for a thread.
///
/// The threads receive no more reads than they can run at the same time, so that other work, such as commits, waits for one read at
/// most and not for all of them. Users or addresses take turns, and so do the connections of each. None of them uses all threads, so
/// that a read of another one begins at once.
final class ReadQueue: Sendable {
    /// A read that runs once, or is refused.
    final class Read: Sendable {
        fileprivate let sharer: Sharer
        fileprivate let isLimited: Bool
        fileprivate let run: @Sendable () -> Void
        fileprivate let refuse: @Sendable () -> Void

        /// - Parameters:
        ///   - sharer: The sender of the request.
        ///   - isLimited: Whether the number of these reads is limited by the queue.
        ///   - refuse: Called instead of `run` if too many reads wait.
        init(
            of sharer: Sharer, isLimited: Bool = true, orRefuse refuse: @escaping @Sendable () -> Void,
            _ run: @escaping @Sendable () -> Void
        ) {
            self.sharer = sharer
            self.isLimited = isLimited
            self.refuse = refuse
            self.run = run
        }
    }

    private let maximumWaiting: Int
    private let schedule: TableServer.Schedule
    private let state: Mutex<FairQueue>

    /// - Parameters:
    ///   - maximumRunning: The maximum number of reads that run at the same time.
    ///   - maximumWaiting: The maximum number of further reads.
    ///   - schedule: Runs a closure on a thread that may block.
    init(maximumRunning: Int, maximumWaiting: Int, schedule: @escaping TableServer.Schedule) {
        self.maximumWaiting = maximumWaiting
        self.schedule = schedule
        state = Mutex(FairQueue(maximumRunning: maximumRunning))
    }

    /// Adds a read. If too many wait, refuses the last one of the user or address with the most, or of its connection with the most.
    func append(_ read: Read) {
        state.withLock { $0.append(read) }
        startNext()
        let refused = state.withLock { $0.limitedCount > maximumWaiting ? $0.removeLastOfMost(after: read) : nil }
        refused?.refuse()
    }

    /// Removes a read whose client has gone away. Returns whether it was waiting; if so, it does not run.
    func remove(_ read: Read) -> Bool { state.withLock { $0.remove(read) } }

    private func startNext() {
        while let next = state.withLock({ $0.startNext() }) {
            schedule {
                next.run()
                self.state.withLock { $0.end(next) }
                self.startNext()
            }
        }
    }
}

/// Reads in the order in which they run: groups take turns, and so do the connections of each.
private struct FairQueue {
    /// The reads of a connection.
    private final class Line {
        var waiting = CircularBuffer<ReadQueue.Read>()
        var limitedCount = 0
        var running = 0
        /// Whether the line is among those of its group that take turns.
        var hasTurn = false
    }

    /// The connections of a user or address.
    private final class Group {
        var lines: [Sharer: Line] = [:]
        var turns = CircularBuffer<Line>()
        var limitedCount = 0
        var running = 0
        var hasTurn = false
    }

    private var groups: [Sharer.Group: Group] = [:]
    private var turns = CircularBuffer<Group>()
    private var running = 0
    private(set) var limitedCount = 0
    private let maximum: Int
    /// The maximum number of reads of a user or address that run at the same time, and of a connection.
    private let maximumOfGroup: Int
    private let maximumOfLine: Int

    init(maximumRunning: Int) {
        maximum = maximumRunning
        maximumOfGroup = max(1, maximumRunning * 3 / 4)
        maximumOfLine = max(1, maximumRunning / 2)
    }

    mutating func append(_ read: ReadQueue.Read) {
        let group = groups[read.sharer.group] ?? Group()
        let line = group.lines[read.sharer] ?? Line()
        groups[read.sharer.group] = group
        group.lines[read.sharer] = line
        line.waiting.append(read)
        count(read, by: 1, group, line)
        if !line.hasTurn { group.turns.append(line) }
        if !group.hasTurn { turns.append(group) }
        (line.hasTurn, group.hasTurn) = (true, true)
    }

    /// Removes and returns the next read of a connection that may run another one.
    mutating func startNext() -> ReadQueue.Read? {
        guard running < maximum else { return nil }
        for _ in 0..<turns.count {
            let group = turns.removeFirst()
            let read = group.running < maximumOfGroup ? next(of: group) : nil
            group.hasTurn = !group.turns.isEmpty
            if group.hasTurn { turns.append(group) }
            if let read { return read }
        }
        return nil
    }

    private mutating func next(of group: Group) -> ReadQueue.Read? {
        for _ in 0..<group.turns.count {
            let line = group.turns.removeFirst()
            let read = line.running < maximumOfLine ? line.waiting.popFirst() : nil
            line.hasTurn = !line.waiting.isEmpty
            if line.hasTurn { group.turns.append(line) }
            guard let read else { continue }
            count(read, by: -1, group, line)
            running += 1
            group.running += 1
            line.running += 1
            return read
        }
        return nil
    }

    /// Notes that a read has ended.
    mutating func end(_ read: ReadQueue.Read) {
        guard let group = groups[read.sharer.group], let line = group.lines[read.sharer] else { return }
        running -= 1
        group.running -= 1
        line.running -= 1
        removeIfUnused(read.sharer, group, line)
    }

    mutating func remove(_ read: ReadQueue.Read) -> Bool {
        guard let group = groups[read.sharer.group], let line = group.lines[read.sharer],
            let index = line.waiting.firstIndex(where: { $0 === read })
        else { return false }
        line.waiting.remove(at: index)
        count(read, by: -1, group, line)
        removeIfUnused(read.sharer, group, line)
        return true
    }

    /// Removes and returns the last limited read of the connection with the most in the group with the most, which are those of the
    /// read that was added last if no others have more.
    mutating func removeLastOfMost(after read: ReadQueue.Read) -> ReadQueue.Read? {
        let own = groups[read.sharer.group]
        guard let most = groups.values.max(by: { $0.limitedCount < $1.limitedCount }) else { return nil }
        let group = own.map { $0.limitedCount < most.limitedCount ? most : $0 } ?? most
        guard let longest = group.lines.values.max(by: { $0.limitedCount < $1.limitedCount }) else { return nil }
        let line = group.lines[read.sharer].map { $0.limitedCount < longest.limitedCount ? longest : $0 } ?? longest
        guard let last = line.waiting.last(where: { $0.isLimited }) else { return nil }
        return remove(last) ? last : nil
    }

    private mutating func count(_ read: ReadQueue.Read, by step: Int, _ group: Group, _ line: Line) {
        guard read.isLimited else { return }
        limitedCount += step
        group.limitedCount += step
        line.limitedCount += step
    }

    /// Forgets a connection without reads. It can still have a turn, which it then leaves to the next one.
    private mutating func removeIfUnused(_ sharer: Sharer, _ group: Group, _ line: Line) {
        guard line.running == 0, line.waiting.isEmpty else { return }
        group.lines[sharer] = nil
        if group.lines.isEmpty, group.running == 0 { groups[sharer.group] = nil }
    }
}
#endif
