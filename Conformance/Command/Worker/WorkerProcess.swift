internal import Foundation
internal import Synchronization
internal import TidelineCommandSupport
internal import TidelineConformance

/// A process that runs checks and tells of each, with a folder for temporary files that goes when the process has gone.
final class WorkerProcess: Sendable {
    /// Of what a worker writes to standard error the last lines are kept.
    private static let keptLines = 20
    private static let keptBytes = 1 << 16

    private let process = Process()
    private let folder: TrialFolder
    private let input = Pipe()
    private let output = Pipe()
    private let errors = Pipe()
    private let written = Mutex(Data())
    private let hasReadErrors = DispatchSemaphore(value: 0)

    /// Starts the worker.
    /// - Throws: When it cannot be started.
    init(_ program: ConformanceProgram, store: StoreWord) throws {
        // The worker makes it: a command that is killed before the worker runs leaves nothing behind.
        folder = TrialFolder.planned()
        process.executableURL = URL(fileURLWithPath: program.executable)
        process.arguments = program.arguments + ["--store", store.text, "--worker", folder.path]
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = folder.path
        // To make a backtrace takes longer than most checks, for each that dies; --in-process has it.
        if environment["SWIFT_BACKTRACE"] == nil { environment["SWIFT_BACKTRACE"] = "enable=no" }
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        Thread.detachNewThread { [self] in readErrors() }
    }

    /// Gives the worker its task, and each line that it writes to `body`, until it has no more or `body` wants none.
    func perform(_ task: WorkerTask, _ body: (Data) -> Bool) throws {
        let line = try JSONEncoder().encode(task) + Data("\n".utf8)
        // A worker that is gone already says so by the end of its output.
        try? input.fileHandleForWriting.write(contentsOf: line)
        var unread = Data()
        while true {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return }
            unread += more
            while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                guard body(unread[..<end]) else { return }
                unread = Data(unread[(end + 1)...])
            }
        }
    }

    /// Ends the process as nothing can prevent.
    func kill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// Waits for the process' end, and removes what it has left.
    /// - Returns: How it ended, if it was not as it should: `with signal 11 (…)`.
    func end() -> String? {
        process.waitUntilExit()
        // A process that it has started may hold its standard error open.
        if hasReadErrors.wait(timeout: .now() + 1) == .success { hasReadErrors.signal() }
        try? input.fileHandleForWriting.close()
        folder.remove()
        let status = process.terminationStatus
        guard process.terminationReason == .uncaughtSignal else {
            return status == 0 ? nil : "with exit status \(status)"
        }
        return "with signal \(status) (\(String(cString: strsignal(status))))"
    }

    /// The last of what it wrote to standard error; the message of a trap, if there is one, without the addresses after it.
    var lastErrors: String {
        let text = String(decoding: written.withLock { $0 }, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline)
        let isTrace: (Substring) -> Bool = { $0.hasPrefix("Current stack trace") || $0.hasPrefix("*** ") }
        let start = lines.lastIndex { $0.contains("Fatal error") } ?? max(lines.count - Self.keptLines, 0)
        return lines[start...].prefix { !isTrace($0) }.prefix(Self.keptLines).joined(separator: "\n")
    }

    private func readErrors() {
        while case let more = errors.fileHandleForReading.availableData, !more.isEmpty {
            written.withLock { written in
                written += more
                if written.count > 2 * Self.keptBytes { written = Data(written.suffix(Self.keptBytes)) }
            }
        }
        hasReadErrors.signal()
    }
}
