#if Commands
internal import Foundation
internal import Synchronization
internal import TidelineStore
internal import TidelineSupport

/// A process that runs checks and reports each, with a directory for temporary files that is removed after it ends.
final class WorkerProcess: Sendable {
    /// The number of lines kept from the end of a worker's standard error.
    private static let keptLines = 20
    private static let keptBytes = 1 << 16

    private let process = Process()
    private let folder: CheckFolder
    private let input = Pipe.uninherited()
    private let output = Pipe.uninherited()
    private let errors = Pipe.uninherited()
    private let written = Mutex(Data())
    private let hasReadErrors = DispatchSemaphore(value: 0)

    /// Starts the worker, or throws an error.
    init(_ program: ConformanceProgram, store: StoreWord) throws {
        // The worker creates the directory, so that a command killed before the worker runs leaves nothing behind.
        folder = CheckFolder.planned()
        process.executableURL = URL(fileURLWithPath: program.executable)
        process.arguments = program.arguments + ["--store", store.text, "--worker", folder.path]
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = folder.path
        // A backtrace takes longer than most checks, for each crash; `--in-process` produces one.
        if environment["SWIFT_BACKTRACE"] == nil { environment["SWIFT_BACKTRACE"] = "enable=no" }
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        Thread.detachNewThread { [self] in readErrors() }
    }

    /// Sends the worker its task and passes each line that it writes to `body`, until this returns `false`.
    func perform(_ task: WorkerTask, _ body: (Data) -> Bool) throws {
        let line = try JSONEncoder().encode(task) + Data("\n".utf8)
        // If the worker has already ended, the end of its output reports it.
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

    /// Kills the process unconditionally.
    func kill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// Waits for the process to end, removes its files, and returns how it died, if it did: `with signal 11 (…)`.
    func end() -> String? {
        process.waitUntilExit()
        // A process that the worker has started may keep its standard error open; otherwise, the output ends at once.
        if hasReadErrors.wait(timeout: .now() + 10) == .success { hasReadErrors.signal() }
        try? input.fileHandleForWriting.close()
        folder.remove()
        let status = process.terminationStatus
        guard process.terminationReason == .uncaughtSignal else {
            return status == 0 ? nil : "with exit status \(status)"
        }
        return "with signal \(status) (\(String(cString: strsignal(status))))"
    }

    /// The end of its standard error; the message of a trap, if there is one, without the addresses after it.
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

/// The task of a worker: a line of JSON on its standard input.
struct WorkerTask: Codable, Sendable {
    var checks: [String]
    var seed: UInt64
    var rounds: Int
    var rows: Int
    /// The time limit in seconds.
    var timeLimit: Double
    var profile: Profile
    /// The checks that timed out in earlier workers.
    var timeOuts: TimeOuts.Known

    init(_ checks: some Sequence<Check>, _ settings: ConformanceSettings, _ timeOuts: TimeOuts.Known) {
        self.checks = checks.map(\.id)
        self.timeOuts = timeOuts
        seed = settings.seed
        rounds = settings.rounds
        rows = settings.rows
        timeLimit = settings.timeLimit / .seconds(1)
        profile = settings.profile
    }

    var settings: ConformanceSettings {
        ConformanceSettings(seed: seed, rounds: rounds, rows: rows, timeLimit: .seconds(timeLimit), profile: profile)
    }
}

/// A message from a worker: a line of JSON.
enum WorkerMessage: Codable, Sendable {
    /// The store was opened and declares these capabilities.
    case declared(StoreCapabilities)
    /// A check begins.
    case began(String)
    /// A check has ended.
    case ended(CheckResult)
}
#endif
