import Foundation
import TidelineTestStores
import TidelineTestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

#if os(macOS) || os(Linux)
/// A running `SyncProbe`, which exchanges lines with the test.
class RunningProbe {
    let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private(set) lazy var lines = ProcessLines(of: process, output)

    init(_ command: String, _ kind: StoreKind, _ folder: String, _ numbers: Int...) throws {
        let programs = Bundle.main.executableURL?.deletingLastPathComponent()
        // A probe of another build configuration, such as release, which is faster with many rows.
        let path = ProcessInfo.processInfo.environment["TIDELINE_SYNC_PROBE"]
        process.executableURL =
            path.map { URL(fileURLWithPath: $0) } ?? programs?.appendingPathComponent("SyncProbe")
        process.arguments = [command, kind.engine ?? "", folder] + numbers.map(String.init)
        // This process keeps the read end open too: writing to a pipe without a reader raises SIGPIPE.
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
    }

    deinit {
        resume()
        if process.isRunning { signal(SIGKILL) }
    }

    func write(line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Kills the process and waits until it has ended.
    func kill() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    func suspend() { signal(SIGSTOP) }
    func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) { sendSignal(process.processIdentifier, number) }
}

/// A failure of the probe process.
struct ProbeError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

private func sendSignal(_ process: pid_t, _ signal: Int32) { _ = kill(process, signal) }
#endif
