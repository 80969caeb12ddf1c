internal import Foundation
internal import Synchronization

/// Threads of a check, and their errors. Waits have a time limit: a call that never returns blocks no other check.
final class ThreadTeam: Sendable {
    private let group = DispatchGroup()
    private let problem = Mutex<(any Error)?>(nil)
    private let isOver = Atomic(false)
    private let limit: CheckWait

    init(_ context: CheckContext) { limit = context.wait(.thread) }

    /// Whether the concurrent work is complete or a thread has failed.
    var isDone: Bool { isOver.load(ordering: .relaxed) }

    /// The stack of a thread: a store may evaluate predicates recursively, and a debug build needs large frames.
    static let stackSize = 8 << 20

    /// Starts a thread. Its error is thrown by ``wait(for:)``.
    func start(stackSize: Int = ThreadTeam.stackSize, _ body: @escaping @Sendable () throws -> Void) {
        group.enter()
        let thread = Thread { [self] in
            do { try body() } catch { fail(error) }
            group.leave()
        }
        thread.stackSize = stackSize
        thread.start()
    }

    /// Notifies the threads that run until ``isDone``.
    func finish() { isOver.store(true, ordering: .relaxed) }

    /// Waits until all threads have ended. Throws the first error of any, or a failure if one does not end.
    func wait(for what: String) throws {
        let isOnTime = group.wait(timeout: .now() + limit.seconds) == .success
        if let error = problem.withLock({ $0 }) { throw error }
        guard isOnTime else {
            throw TimeOut(kind: .thread, message: "\(what): a thread does not return from the store", wait: limit)
        }
    }

    private func fail(_ error: any Error) {
        problem.withLock { $0 = $0 ?? error }
        finish()
    }
}

/// A signal from one thread to another.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    /// The thread that sent the signal, as a path in `/proc` on Linux.
    private let sender = Mutex<String?>(nil)

    /// Releases one waiting thread.
    func send() {
        let thread = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        sender.withLock { $0 = thread }
        semaphore.signal()
    }

    /// Waits for ``send()``; throws a failure if it does not arrive in time.
    func wait(_ context: CheckContext, _ failure: @autoclosure () -> String) throws {
        let limit = context.wait(.thread)
        guard semaphore.wait(timeout: .now() + limit.seconds) == .success else {
            throw TimeOut(kind: .thread, message: failure(), wait: limit)
        }
    }

    /// Returns whether ``send()`` arrives before the thread that sent `start` has slept for a tenth of a second, which
    /// detects a store that fails to wait. On Linux, a thread that lacks processor time is not taken for a waiting one.
    func comesTooEarly(after start: Signal, _ context: CheckContext) -> Bool {
        let end = DispatchTime.now() + context.wait(.thread).seconds
        var sleeps = 0
        while sleeps < 10, .now() < end {
            if semaphore.wait(timeout: .now() + 0.01) == .success { return true }
            sleeps = start.isSenderAsleep ? sleeps + 1 : 0
        }
        return false
    }

    /// Whether the thread sleeps or has ended; always `true` where this is unknown.
    private var isSenderAsleep: Bool {
        guard let thread = sender.withLock({ $0 }),
            let status = try? String(contentsOfFile: "/proc/\(thread)/stat", encoding: .utf8)
        else { return true }
        // The state follows the name, which is in parentheses: R stands for running, D for reading or writing a file.
        return status.split(separator: ")").last?.dropFirst().first == "S"
    }
}

extension CheckContext {
    /// The seconds that a thread waits for another before the check fails: a part of the check's time limit.
    var patience: Double { settings.timeLimit / .seconds(5) }

    /// Runs `body` on `count` threads at once, each with its number, and waits for all.
    func onThreads(_ count: Int, _ what: String, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let team = ThreadTeam(self)
        for number in 0..<count { team.start { try body(number) } }
        try team.wait(for: what)
    }

    /// Runs `body` on a separate thread and waits for it.
    func elsewhere(_ what: String, _ body: @escaping @Sendable () throws -> Void) throws {
        try onThreads(1, what) { _ in try body() }
    }

    /// Runs `body` on a thread with the stack of the queues on which a client runs a store: 512 KiB on Apple's systems.
    /// A store that recurses over data without a limit ends the process there.
    func onSmallStack<T: Sendable>(_ what: String, _ body: @escaping @Sendable () throws -> T) throws -> T {
        let result = Mutex<T?>(nil)
        let team = ThreadTeam(self)
        team.start(stackSize: 512 << 10) {
            let value = try body()
            result.withLock { $0 = value }
        }
        try team.wait(for: what)
        guard let value = result.withLock({ $0 }) else { throw HarnessError("\(what): there is no result") }
        return value
    }

    /// Runs `work` while several threads repeat `read` with its previous result, each at least once. They end
    /// by themselves eventually, so that a store whose writers wait for readers does not wait forever.
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
        try team.wait(for: "readers concurrent with a writer")
        try outcome.get()
    }
}
