public import Foundation

/// How long tests wait for another thread or process: longer than the busiest machine takes, and not for ever.
public enum WaitLimit {
    /// In seconds.
    public static let seconds = 300.0
}

/// Something that a test timed out waiting for.
public struct WaitFailure: Error, CustomStringConvertible {
    /// The event.
    public let description: String

    /// A failure for an event.
    public init(_ what: String) {
        description = "after \(Int(WaitLimit.seconds)) seconds the test still waits for \(what)"
    }
}

/// Waits until something holds. It must be something that stays, as it is looked at now and then only.
/// - Throws: ``WaitFailure``; what `holds` throws.
public func waitUntil(_ what: String, _ holds: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(WaitLimit.seconds)
    while try !holds() {
        guard ContinuousClock.now < deadline else { throw WaitFailure(what) }
        usleep(1_000)
    }
}

extension DispatchGroup {
    /// Waits until all have left.
    /// - Throws: ``WaitFailure``.
    public func finish(_ what: String = "a thread to end") throws {
        guard wait(timeout: .now() + WaitLimit.seconds) == .success else { throw WaitFailure(what) }
    }
}

extension DispatchSemaphore {
    /// Waits for a signal.
    /// - Throws: ``WaitFailure``.
    public func finish(_ what: String = "a thread to get on") throws {
        guard wait(timeout: .now() + WaitLimit.seconds) == .success else { throw WaitFailure(what) }
    }
}

extension Process {
    /// Waits until the process has ended; one that takes too long is killed.
    /// - Throws: ``WaitFailure``.
    public func finish() throws {
        let alarm = DispatchWorkItem { [self] in end() }
        DispatchQueue.global().asyncAfter(deadline: .now() + WaitLimit.seconds, execute: alarm)
        waitUntilExit()
        alarm.cancel()
        let wasKilled = terminationReason == .uncaughtSignal && terminationStatus == SIGKILL
        if wasKilled { throw WaitFailure("the process \(executableURL?.lastPathComponent ?? "") to end") }
    }

    /// Ends the process as it cannot prevent, if it runs.
    public func end() {
        if isRunning { sendKill(processIdentifier) }
    }
}

private func sendKill(_ process: pid_t) { _ = kill(process, SIGKILL) }
