#if Serve
internal import NIOCore

/// Reads in the order in which they run: weighted fair queuing of users or addresses, and of the connections of each.
///
/// A clock shows the time that each of them could have used if all that have reads had used the threads equally. The
/// next read is that of the one whose use would end first on this clock. So a client with short reads waits neither for
/// one with long reads nor for any number of them, and a client with long reads has its part of the time. The time of a
/// read is known when it has ended; until then, it is expected to be that of other reads of its kind and connection or,
/// for the first one, of its kind and table.
struct FairQueue {
    private typealias Read = ReadQueue.Read

    /// A user, an address, or a connection.
    private class Share {
        var running = 0
        /// The number of limited reads that wait.
        var limitedCount = 0
        /// The time on the clock at which what it has used so far would have ended, in nanoseconds.
        var end = 0
    }

    private final class Connection: Share {
        var waiting = CircularBuffer<Read>()
        var singleTime: Int?
        var pageTime: Int?
        var isIdle: Bool { running == 0 && waiting.isEmpty }
    }

    private final class Group: Share {
        var connections: [SocketAddress?: Connection] = [:]
        /// Those with reads that wait.
        var waiting: [Connection] = []
        var clock = Clock()
    }

    /// The virtual time of those that share something.
    private struct Clock {
        private(set) var time = 0
        /// The number of those with reads that wait or run.
        private(set) var activeCount = 0

        /// Adds one with reads. Time that it did not use before is lost.
        mutating func add(_ share: Share) {
            share.end = max(share.end, time)
            activeCount += 1
        }

        mutating func removeOne() { activeCount -= 1 }

        /// Notes the use of one of them.
        mutating func advance(by use: Int) { time += use / max(1, activeCount) }
    }

    private var groups: [Sharer.Group: Group] = [:]
    /// Those with reads that wait.
    private var waiting: [Group] = []
    private var clock = Clock()
    private var singleTime: Int?
    private var pageTimes: [String: Int] = [:]
    private var running = 0
    private var idleCount = 0
    private(set) var limitedCount = 0
    private let maximum: Int
    /// The maximum number of reads of a user or address that run at the same time, and of a connection.
    private let maximumOfGroup: Int
    private let maximumOfConnection: Int

    /// The expected time in nanoseconds from which a read leaves one thread to shorter ones.
    private static let longTime = 100_000_000
    /// The maximum number of connections without reads whose use is remembered.
    private static let maximumIdle = 4_096
    private static let maximumTables = 1_000

    init(maximumRunning: Int) {
        maximum = maximumRunning
        maximumOfGroup = max(1, maximumRunning * 3 / 4)
        maximumOfConnection = max(1, maximumRunning / 2)
    }

    mutating func append(_ read: ReadQueue.Read) {
        let (group, connection) = find(read.sharer) ?? add(read.sharer)
        if group.clock.activeCount == 0 { clock.add(group) }
        if connection.isIdle {
            group.clock.add(connection)
            idleCount -= 1
        }
        if group.waiting.isEmpty { waiting.append(group) }
        if connection.waiting.isEmpty { group.waiting.append(connection) }
        connection.waiting.append(read)
        count(read, by: 1, group, connection)
    }

    private func find(_ sharer: Sharer) -> (Group, Connection)? {
        guard let group = groups[sharer.group] else { return nil }
        return group.connections[sharer.connection].map { (group, $0) }
    }

    private mutating func add(_ sharer: Sharer) -> (Group, Connection) {
        let (group, connection) = (groups[sharer.group] ?? Group(), Connection())
        groups[sharer.group] = group
        group.connections[sharer.connection] = connection
        idleCount += 1
        return (group, connection)
    }

    // MARK: Order

    /// Removes and returns the next read of those that may run beside the running ones.
    mutating func startNext() -> ReadQueue.Read? {
        guard running < maximum else { return nil }
        var first: (end: Int, group: Group, connection: Connection)?
        for group in waiting where group.running < maximumOfGroup {
            guard let next = next(of: group) else { continue }
            let end = end(of: group, with: next.time)
            if first.map({ end < $0.end }) ?? true { first = (end, group, next.connection) }
        }
        guard let (_, group, connection) = first, let read = connection.waiting.first else { return nil }
        dequeue(read, at: connection.waiting.startIndex, group, connection)
        running += 1
        group.running += 1
        connection.running += 1
        return read
    }

    /// Returns the connection of a group whose read is the next one, and its expected time.
    private func next(of group: Group) -> (connection: Connection, time: Int)? {
        var first: (end: Int, connection: Connection, time: Int)?
        for connection in group.waiting where connection.running < maximumOfConnection {
            guard let read = connection.waiting.first else { continue }
            let time = expectedTime(of: read, connection)
            let reserved = time < Self.longTime ? 0 : 1
            guard running < max(1, maximum - reserved), group.running < max(1, maximumOfGroup - reserved) else {
                continue
            }
            let end = end(of: connection, with: time)
            if first.map({ end < $0.end }) ?? true { first = (end, connection, time) }
        }
        return first.map { ($0.connection, $0.time) }
    }

    private func expectedTime(of read: Read, _ connection: Connection) -> Int {
        switch read.kind {
        case .single: connection.singleTime ?? singleTime ?? 1
        case .page(let table): connection.pageTime ?? pageTimes[table] ?? Self.longTime
        }
    }

    /// Returns when the use of a group or connection would end with another read, if those that run take as long as it.
    private func end(of share: Share, with time: Int) -> Int { share.end + (share.running + 1) * time }

    // MARK: Ends

    /// Notes that a read has ended, and how long it took, or `nil` if it was refused.
    mutating func end(_ read: ReadQueue.Read, after time: Int?) {
        guard let (group, connection) = find(read.sharer) else { return }
        clock.advance(by: time ?? 0)
        group.clock.advance(by: time ?? 0)
        for share in [group, connection] {
            share.running -= 1
            share.end += time ?? 0
        }
        running -= 1
        if let time { note(time, of: read, connection) }
        noteIfIdle(connection, of: group)
    }

    /// Notes the time of a read. The expected time follows it slowly, because a read can be interrupted.
    private mutating func note(_ time: Int, of read: Read, _ connection: Connection) {
        func note(_ known: inout Int?) { known = known.map { $0 + (time - $0) / 4 } ?? time }
        switch read.kind {
        case .single:
            note(&connection.singleTime)
            note(&singleTime)
        case .page(let table):
            note(&connection.pageTime)
            if pageTimes.count >= Self.maximumTables, pageTimes[table] == nil { pageTimes.removeAll() }
            note(&pageTimes[table])
        }
    }

    mutating func remove(_ read: ReadQueue.Read) -> Bool {
        guard let (group, connection) = find(read.sharer),
            let index = connection.waiting.firstIndex(where: { $0 === read })
        else { return false }
        dequeue(read, at: index, group, connection)
        noteIfIdle(connection, of: group)
        return true
    }

    /// Removes and returns the last limited read of the connection with the most in the group with the most, which are
    /// those of the read that was added last if no others have more.
    mutating func removeLastOfMost(after read: ReadQueue.Read) -> ReadQueue.Read? {
        func most<S: Share>(of shares: [S], or own: S?) -> S? {
            let most = shares.max { $0.limitedCount < $1.limitedCount }
            return own.map { $0.limitedCount == most?.limitedCount } == true ? own : most
        }
        guard let group = most(of: waiting, or: groups[read.sharer.group]),
            let connection = most(of: group.waiting, or: group.connections[read.sharer.connection]),
            let last = connection.waiting.last(where: { $0.isLimited })
        else { return nil }
        return remove(last) ? last : nil
    }

    /// Removes a read from those that wait.
    private mutating func dequeue(
        _ read: Read, at index: CircularBuffer<Read>.Index, _ group: Group, _ connection: Connection
    ) {
        connection.waiting.remove(at: index)
        count(read, by: -1, group, connection)
        guard connection.waiting.isEmpty else { return }
        group.waiting.removeAll { $0 === connection }
        if group.waiting.isEmpty { waiting.removeAll { $0 === group } }
    }

    private mutating func count(_ read: Read, by step: Int, _ group: Group, _ connection: Connection) {
        guard read.isLimited else { return }
        limitedCount += step
        group.limitedCount += step
        connection.limitedCount += step
    }

    private mutating func noteIfIdle(_ connection: Connection, of group: Group) {
        guard connection.isIdle else { return }
        group.clock.removeOne()
        if group.clock.activeCount == 0 { clock.removeOne() }
        idleCount += 1
        if idleCount > Self.maximumIdle { forgetIdle() }
    }

    private mutating func forgetIdle() {
        for group in groups.values { group.connections = group.connections.filter { !$0.value.isIdle } }
        groups = groups.filter { !$0.value.connections.isEmpty }
        idleCount = 0
    }
}
#endif
