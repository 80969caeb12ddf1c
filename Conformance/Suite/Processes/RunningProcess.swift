internal import Foundation
internal import TidelineSupport

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

#if os(macOS) || os(Linux)
/// A running process with its standard input and output.
final class RunningProcess {
    /// The lines that it prints for the suite.
    let lines = ChildLines()
    private let process = Process()
    private let input = Pipe.uninherited()
    private let ended = DispatchSemaphore(value: 0)

    init(_ executable: String, arguments: [String], environment: [String: String], errorFile: String) throws {
        guard FileManager.default.createFile(atPath: errorFile, contents: nil) else {
            throw HarnessError("the file \(errorFile) cannot be created")
        }
        let output = Pipe.uninherited()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        // If Swift prints a backtrace of a crash, that takes seconds.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            .merging(environment) { $1 }
        // Keeps the reading end open: a process that writes to a pipe without a reader is terminated.
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        process.standardError = FileHandle(forWritingAtPath: errorFile)
        process.terminationHandler = { [ended] _ in ended.signal() }
        do { try process.run() } catch {
            throw HarnessError("the process \(executable) cannot be started: \(error.reason)")
        }
        lines.read(output.fileHandleForReading)
    }

    /// Writes an empty line to its standard input.
    func proceed() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

    /// Kills the process immediately.
    func kill() {
        if process.isRunning { sendKill(process.processIdentifier) }
    }

    /// Returns its exit status, or the signal that terminated it, if it ends in time.
    func end(within seconds: TimeInterval) -> (status: Int32, signal: Int32?)? {
        guard ended.wait(timeout: .now() + seconds) == .success else { return nil }
        ended.signal()
        // Removes the process, which keeps its pipes, from the run loop of this thread.
        process.waitUntilExit()
        let status = process.terminationStatus
        return (status, process.terminationReason == .uncaughtSignal ? status : nil)
    }
}

private func sendKill(_ process: pid_t) { _ = kill(process, SIGKILL) }
#else
/// A placeholder for platforms without processes.
final class RunningProcess {
    let lines = ChildLines()

    init(_ executable: String, arguments: [String], environment: [String: String], errorFile: String) throws {
        throw HarnessError("this platform cannot start processes")
    }

    func proceed() {}
    func kill() {}
    func end(within seconds: TimeInterval) -> (status: Int32, signal: Int32?)? { nil }
}
#endif
