#if Serve
internal import Foundation
internal import Synchronization
internal import TidelineSupport

/// A process that runs this program.
final class ToolProcess {
    /// The result of a finished process.
    struct Output {
        /// The exit status, or 128 plus the signal number if a signal ended the process.
        var status: Int32
        var out: String
        var err: String
    }

    private let process = Process()
    private let input = Pipe.uninherited()
    private let output = Pipe.uninherited()
    private let error: PipeReader?
    private var unread = Data()

    /// The processes that were started, without some that have ended; `nil` after ``killAll()``.
    private static let started = Mutex<[Started]?>([])

    /// A process, which is not kept: with the last reference to it, its input ends.
    private struct Started: Sendable {
        weak var process: Process?
        var isRunning: Bool { process?.isRunning == true }
    }

    /// Starts the program, by default the running one.
    /// - Parameter keepsErrors: Whether to collect standard error, instead of sharing that of this process.
    init(_ arguments: [String], keepsErrors: Bool = false, executable: URL? = nil) throws {
        guard let executable = executable ?? Bundle.main.executableURL else {
            throw ToolError("the path of this program is unknown, but it is needed to run its commands")
        }
        let errorPipe = keepsErrors ? Pipe.uninherited() : nil
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        if let errorPipe { process.standardError = errorPipe }
        try process.run()
        error = errorPipe.map { PipeReader($0) }
        let isAllowed = Self.started.withLock { started in
            started = started.map { $0.filter(\.isRunning) + [Started(process: process)] }
            return started != nil
        }
        if !isAllowed { signal(SIGKILL) }
    }

    /// Kills all processes, and those that are started later. The terminal does not: each has a group of its own.
    static func killAll() {
        let running = started.withLock { started in
            defer { started = nil }
            return started ?? []
        }
        for case let process? in running.map({ $0.process }) where process.isRunning {
            kill(process.processIdentifier, SIGKILL)
        }
        // A killed process may first complete a call of the system, such as a write. Nothing signals the end of all of
        // them, so look until they have ended, but not forever.
        let end = ContinuousClock.now + .seconds(2)
        while running.contains(where: \.isRunning), .now < end { usleep(10_000) }
    }

    /// Runs the program and waits until it ends.
    static func run(_ arguments: [String], executable: URL? = nil) throws -> Output {
        let tool = try ToolProcess(arguments, keepsErrors: true, executable: executable)
        try tool.input.fileHandleForWriting.close()
        let out = try tool.output.fileHandleForReading.readToEnd() ?? Data()
        tool.process.waitUntilExit()
        return Output(status: tool.status, out: String(decoding: out, as: UTF8.self), err: tool.errors())
    }

    /// Writes a line to the program's standard input.
    func write(line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Returns the next line of standard output, or `nil` if the output has ended or no line arrives within `seconds`,
    /// by default longer than a busy machine takes.
    func readLine(within seconds: Double = 300) -> String? {
        let alarm = DispatchWorkItem { [weak process] in
            if let process { kill(process.processIdentifier, SIGKILL) }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: alarm)
        defer { alarm.cancel() }
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            unread += more
        }
    }

    /// Waits until the process ends, and returns its status.
    func wait() -> Int32 {
        process.waitUntilExit()
        return status
    }

    /// Kills the process with SIGKILL, which no program can intercept, and returns its status.
    func killNow() -> Int32 {
        signal(SIGKILL)
        return wait()
    }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    var isRunning: Bool { process.isRunning }

    /// Returns the text that the process wrote to standard error. Call it after the process has ended.
    func errors() -> String { error?.text() ?? "" }

    /// Terminates the process and waits until it has ended.
    func stop() {
        guard isRunning else { return }
        process.terminate()
        // A process ignores the signal if its parent ignored it at the start, as one does that runs a server.
        let deadline = ContinuousClock.now + .seconds(10)
        while isRunning, .now < deadline { Thread.sleep(forTimeInterval: 0.02) }
        if isRunning { signal(SIGKILL) }
        process.waitUntilExit()
    }

    private var status: Int32 {
        process.terminationReason == .uncaughtSignal ? 128 + process.terminationStatus : process.terminationStatus
    }
}

/// Reads a pipe to its end on a thread of its own, because a program that writes more than a pipe holds would wait.
private final class PipeReader: Sendable {
    private let content = Mutex(Data())
    private let ended = DispatchGroup()

    init(_ pipe: Pipe) {
        let input = pipe.fileHandleForReading
        ended.enter()
        Thread.detachNewThread { [self] in
            let read = (try? input.readToEnd()) ?? Data()
            content.withLock { $0 = read }
            ended.leave()
        }
    }

    /// Waits for the end of the pipe and returns its text.
    func text() -> String {
        ended.wait()
        return String(decoding: content.withLock { $0 }, as: UTF8.self)
    }
}
#endif
