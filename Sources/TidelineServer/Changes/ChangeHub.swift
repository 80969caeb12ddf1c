internal import Synchronization
internal import TidelineStore

/// The clients that wait for changes of tables.
///
/// A client first takes a place, then reads the timestamps of its tables from the store, and then waits for later ones.
/// The commits in between are noted, because the place comes first, so none is missed. While no place is taken, a
/// commit costs one load of a number.
final class ChangeHub: Sendable {
    /// The end of a wait.
    enum Outcome: Sendable {
        /// Some of the tables have changed, and have these timestamps.
        case changed(TableClocks)
        /// The time is over.
        case unchanged
        /// The signal or the task of the client has ended.
        case ended
    }

    /// The place of a client, which is free when it is released.
    final class Place: Sendable {
        private let hub: ChangeHub
        fileprivate init(_ hub: ChangeHub) { self.hub = hub }
        deinit { hub.leave() }
    }

    fileprivate struct Waiter {
        let tables: [String]
        let clocks: TableClocks
        let deadline: Int
        let continuation: CheckedContinuation<Outcome, Never>
    }

    fileprivate struct State {
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        /// The numbers of the waiters by the folded names of their tables, and by their deadlines.
        var byTable: [String: Set<Int>] = [:]
        var byDeadline: [Int: Set<Int>] = [:]
        /// The timestamps that were noted since the first of the current places was taken.
        var latest = TableClocks()
        /// The number of notes, and that of the last one with another timestamp of each table, by the folded names.
        var noteCount = 0
        var lastNotes: [String: Int] = [:]
        /// The number of intervals since the signal began.
        var tick = 0
        /// Whether the signal has not begun, runs, or has ended.
        var phase = Phase.new
        /// Continues the loop of the signal when a place is taken.
        var loop: CheckedContinuation<Void, Never>?
    }

    fileprivate enum Phase { case new, running, ended }

    private let state = LockedValue(State())
    /// The number of places, which changes under the lock and can be read without it.
    private let places = Atomic<Int>(0)

    // MARK: Places

    /// Takes a place.
    ///
    /// - Returns: `nil` if the signal does not run, or if there are as many places as the limit.
    func takePlace(limit: Int) -> Place? {
        let (isTaken, loop) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.phase == .running, placeCount < limit else { return (false, nil) }
            places.add(1, ordering: .sequentiallyConsistent)
            return (true, state.loop.take())
        }
        loop?.resume()
        return isTaken ? Place(self) : nil
    }

    private func leave() {
        state.withLock { state in
            let (_, left) = places.subtract(1, ordering: .sequentiallyConsistent)
            if left == 0 { (state.latest, state.lastNotes) = (TableClocks(), [:]) }
        }
    }

    // MARK: Waiting

    /// Waits until one of the tables has a later timestamp. The caller has a place, which it took before it read the
    /// timestamps.
    ///
    /// - Parameters:
    ///   - note: The value of ``noteCount`` before the timestamps were read.
    ///   - ticks: The time limit, as a number of intervals.
    func wait(for tables: [String], after clocks: TableClocks, since note: Int, ticks: Int) async -> Outcome {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    guard state.phase == .running, !Task.isCancelled else { return .ended }
                    state.removeLost(tables, clocks, since: note)
                    let isBehind = tables.contains { isLater(state.latest[$0], than: clocks[$0]) }
                    if isBehind { return .changed(state.clocks(of: tables, after: clocks)) }
                    state.add(
                        Waiter(
                            tables: tables, clocks: clocks, deadline: state.tick + max(ticks, 1),
                            continuation: continuation), number)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            state.withLock { $0.remove(number) }?.continuation.resume(returning: .ended)
        }
    }

    /// Ends the waits for tables with later timestamps.
    ///
    /// The timestamps may arrive in another order than that of their commits: earlier ones have no effect.
    func note(_ clocks: @autoclosure () -> TableClocks) {
        guard placeCount > 0 else { return }
        let clocks = clocks()
        let woken = state.withLock { state -> [(Waiter, TableClocks)] in
            guard placeCount > 0 else { return [] }
            var numbers: Set<Int> = []
            state.noteCount += 1
            for (table, stamp) in clocks.folded where stamp != state.latest.folded[table] {
                state.lastNotes[table] = state.noteCount
                guard isLater(stamp, than: state.latest.folded[table]) else { continue }
                for number in state.byTable[table] ?? [] {
                    guard let waiter = state.waiters[number] else { continue }
                    if isLater(stamp, than: waiter.clocks.folded[table]) { numbers.insert(number) }
                }
            }
            state.latest.advance(to: clocks)
            return numbers.sorted().compactMap { number in
                state.remove(number).map { ($0, state.clocks(of: $0.tables, after: $0.clocks)) }
            }
        }
        for (waiter, clocks) in woken { waiter.continuation.resume(returning: .changed(clocks)) }
    }

    // MARK: The signal

    /// Lets the signal begin. Returns `false` if it has begun before.
    func begin() -> Bool {
        state.withLock { state in
            guard state.phase == .new else { return false }
            state.phase = .running
            return true
        }
    }

    /// Ends all waits.
    func end() {
        let (waiters, loop) = state.withLock { state -> ([Waiter], CheckedContinuation<Void, Never>?) in
            state.phase = .ended
            let waiters = state.waiters.keys.sorted().compactMap { state.remove($0) }
            return (waiters, state.loop.take())
        }
        loop?.resume()
        for waiter in waiters { waiter.continuation.resume(returning: .ended) }
    }

    /// Waits until a place is taken. Returns `false` if the signal has ended or the task is cancelled.
    func waitForPlace() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.phase == .running, placeCount == 0, !Task.isCancelled else { return true }
                    state.loop = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.loop.take() }?.resume()
        }
        return state.withLock { $0.phase == .running } && !Task.isCancelled
    }

    /// Notes that an interval has passed, and ends the waits whose time is over.
    func passInterval() {
        let expired = state.withLock { state -> [Waiter] in
            state.tick += 1
            let numbers = state.byDeadline[state.tick] ?? []
            return numbers.sorted().compactMap { state.remove($0) }
        }
        for waiter in expired { waiter.continuation.resume(returning: .unchanged) }
    }

    /// The number of notes since the beginning.
    var noteCount: Int { state.withLock { $0.noteCount } }
    /// Whether the signal has begun and not ended.
    var isRunning: Bool { state.withLock { $0.phase == .running } }
    /// The number of waits in progress.
    var waiterCount: Int { state.withLock { $0.waiters.count } }
    /// The number of places that are taken.
    var placeCount: Int { places.load(ordering: .sequentiallyConsistent) }
}

extension ChangeHub.State {
    fileprivate mutating func add(_ waiter: ChangeHub.Waiter, _ number: Int) {
        waiters[number] = waiter
        for table in waiter.tables { byTable[TableClocks.fold(table), default: []].insert(number) }
        byDeadline[waiter.deadline, default: []].insert(number)
    }

    fileprivate mutating func remove(_ number: Int) -> ChangeHub.Waiter? {
        guard let waiter = waiters.removeValue(forKey: number) else { return nil }
        for table in waiter.tables.map(TableClocks.fold) {
            byTable[table]?.remove(number)
            if byTable[table]?.isEmpty == true { byTable[table] = nil }
        }
        byDeadline[waiter.deadline]?.remove(number)
        if byDeadline[waiter.deadline]?.isEmpty == true { byDeadline[waiter.deadline] = nil }
        return waiter
    }

    /// Replaces the timestamps that were noted before `clocks` were read, and are later: a database that was restored,
    /// or has lost its last commits, no longer has them.
    fileprivate mutating func removeLost(_ tables: [String], _ clocks: TableClocks, since note: Int) {
        for table in tables where lastNotes[TableClocks.fold(table), default: 0] <= note {
            if isLater(latest[table], than: clocks[table]) { latest[table] = clocks[table] }
        }
    }

    /// Returns the newest timestamps of tables.
    fileprivate func clocks(of tables: [String], after known: TableClocks) -> TableClocks {
        var clocks = known
        for table in tables where isLater(latest[table], than: clocks[table]) { clocks[table] = latest[table] }
        return clocks
    }
}

private func isLater(_ stamp: Timestamp?, than other: Timestamp?) -> Bool {
    guard let stamp else { return false }
    return other.map { $0 < stamp } ?? true
}
