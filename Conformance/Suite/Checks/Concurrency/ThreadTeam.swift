internal import Foundation
internal import Synchronization

/// Threads that a check runs beside its own, and what went wrong in any of them.
///
/// Whatever waits here waits for so long only: a store whose call never comes back fails the check that noticed, and
/// stops no other.
final class ThreadTeam: Sendable {
    private let group = DispatchGroup()
    private let problem = Mutex<(any Error)?>(nil)
    private let isOver = Atomic(false)
    private let limit: CheckWait

    init(_ trial: Trial) { limit = trial.wait(.thread) }

    /// Whether the others have done what this team's threads run beside, or one of them has failed.
    var isDone: Bool { isOver.load(ordering: .relaxed) }

    /// Starts a thread; what it throws is thrown by ``wait(for:)``.
    func start(_ body: @escaping @Sendable () throws -> Void) {
        group.enter()
        let thread = Thread { [self] in
            do { try body() } catch { fail(error) }
            group.leave()
        }
        // Queries are evaluated recursively, and a debug build needs much stack for each level.
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Tells the threads that go on until ``isDone``.
    func finish() { isOver.store(true, ordering: .relaxed) }

    /// Waits until all have ended.
    /// - Throws: The first error of any; a failure when one does not end.
    func wait(for what: String) throws {
        let isOnTime = group.wait(timeout: .now() + limit.seconds) == .success
        if let error = problem.withLock({ $0 }) { throw error }
        guard isOnTime else {
            throw TimeOut(
                kind: .thread, message: "\(what): a thread does not come back from a call of the store", wait: limit)
        }
    }

    private func fail(_ error: any Error) {
        problem.withLock { $0 = $0 ?? error }
        finish()
    }
}

/// Something that one thread waits for and another one tells it.
struct Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// Lets one waiting thread go on.
    func send() { semaphore.signal() }

    /// Waits for ``send()``; a failure when it does not come.
    func wait(_ trial: Trial, _ failure: @autoclosure () -> String) throws {
        let limit = trial.wait(.thread)
        guard semaphore.wait(timeout: .now() + limit.seconds) == .success else {
            throw TimeOut(kind: .thread, message: failure(), wait: limit)
        }
    }

    /// Whether ``send()`` comes soon. It is to be asked where it must not come before this thread goes on: a store that
    /// makes no other wait is found by that, and one that does loses a tenth of a second.
    func comesTooEarly() -> Bool { semaphore.wait(timeout: .now() + 0.1) == .success }
}

extension Trial {
    /// How many seconds a thread waits for another before the check fails: a part of what a check may take.
    var patience: Double { settings.timeLimit / .seconds(5) }

    /// Runs `body` on so many threads at once, each with its number, and waits for all.
    func onThreads(_ count: Int, _ what: String, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let team = ThreadTeam(self)
        for number in 0..<count { team.start { try body(number) } }
        try team.wait(for: what)
    }

    /// Runs `body` on a thread of its own and waits for it.
    func elsewhere(_ what: String, _ body: @escaping @Sendable () throws -> Void) throws {
        try onThreads(1, what) { _ in try body() }
    }

    /// Runs `work` while so many threads repeat `read`, each at least once; it is given what it returned before.
    ///
    /// Readers end by themselves at last, so that a store which lets a writer wait for them does not wait for ever.
    func beside<State>(
        readers: Int, first: State, read: @escaping @Sendable (State) throws -> State, _ work: () throws -> Void
    ) throws where State: Sendable {
        let team = ThreadTeam(self)
        for _ in 0..<readers {
            team.start {
                var state = first
                for _ in 0..<(3_000 * self.rounds) {
                    state = try read(state)
                    if team.isDone { return }
                }
            }
        }
        let outcome = Result { try work() }
        team.finish()
        try team.wait(for: "readers beside a writer")
        try outcome.get()
    }
}
