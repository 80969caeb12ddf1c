public import Foundation
internal import Synchronization

/// The time limit for waiting on another thread or process. It is longer than a busy machine needs.
public enum WaitLimit {
    /// The limit in seconds.
    public static let seconds = 300.0
}

/// The error thrown when a wait exceeds the time limit.
public struct WaitFailure: Error, CustomStringConvertible {
    /// The event that did not occur.
    public let description: String

    /// Makes an error for the given event.
    public init(_ what: String) {
        description = "after \(Int(WaitLimit.seconds)) seconds the test still waits for \(what)"
    }
}

/// Waits until the condition holds. The condition must stay true once it is true, because it is checked only at
/// intervals.
/// - Throws: ``WaitFailure`` after the time limit, or the error that `holds` throws.
public func waitUntil(_ what: String, _ holds: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(WaitLimit.seconds)
    while try !holds() {
        guard ContinuousClock.now < deadline else { throw WaitFailure(what) }
        usleep(1_000)
    }
}

/// Waits as ``waitUntil(_:_:)``, but suspends the task instead of blocking the thread.
/// - Throws: ``WaitFailure`` after the time limit, the error that `holds` throws, or an error if the task is canceled.
public func suspendUntil(_ what: String, _ holds: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(WaitLimit.seconds)
    while try await !holds() {
        guard ContinuousClock.now < deadline else { throw WaitFailure(what) }
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// Runs `body` on several threads at the same time, and waits for all of them.
/// - Throws: An error that `body` throws, or ``WaitFailure`` after the time limit.
public func onThreads(_ count: Int = 1, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            do { try body(number) } catch { failure.withLock { $0 = $0 ?? error } }
            group.leave()
        }
    }
    // A thread that waits for one that has failed does not end.
    do { try group.finish() } catch { throw failure.withLock { $0 } ?? error }
    if let error = failure.withLock({ $0 }) { throw error }
}

extension DispatchGroup {
    /// Waits until every member has left the group.
    /// - Throws: ``WaitFailure`` after the time limit.
    public func finish(_ what: String = "a thread to end") throws {
        guard wait(timeout: .now() + WaitLimit.seconds) == .success else { throw WaitFailure(what) }
    }
}

extension DispatchSemaphore {
    /// Waits for a signal.
    /// - Throws: ``WaitFailure`` after the time limit.
    public func finish(_ what: String = "a thread to get on") throws {
        guard wait(timeout: .now() + WaitLimit.seconds) == .success else { throw WaitFailure(what) }
    }
}

extension Process {
    /// Waits until the process exits. Kills it after the time limit.
    /// - Throws: ``WaitFailure`` after the time limit.
    public func finish() throws {
        limitingTime { waitUntilExit() }
        let wasKilled = terminationReason == .uncaughtSignal && terminationStatus == SIGKILL
        if wasKilled { throw WaitFailure("the process \(executableURL?.lastPathComponent ?? "") to end") }
    }

    /// Calls `body`, which waits for the process, and kills a process that takes longer than the time limit.
    public func limitingTime<T>(_ body: () throws -> T) rethrows -> T {
        // The queue keeps a canceled work item until its time, and the process keeps its pipes.
        let alarm = DispatchWorkItem { [weak self] in self?.end() }
        DispatchQueue.global().asyncAfter(deadline: .now() + WaitLimit.seconds, execute: alarm)
        defer { alarm.cancel() }
        return try body()
    }

    /// Sends SIGKILL to the process if it is running.
    public func end() {
        if isRunning { sendKill(processIdentifier) }
    }
}

private func sendKill(_ process: pid_t) { _ = kill(process, SIGKILL) }
