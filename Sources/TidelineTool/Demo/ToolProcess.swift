internal import Foundation

/// This very program, run as a process of its own.
final class ToolProcess {
    /// What a finished process left.
    struct Output {
        /// The exit status; for a process that a signal ended, 128 and the signal.
        var status: Int32
        var out: String
        var err: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let error: Pipe?
    private var unread = Data()

    /// Starts the program.
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - keepsErrors: Whether standard error is collected; if not, it goes where this process' goes.
    ///   - executable: The program, where it is not the one that runs.
    init(_ arguments: [String], keepsErrors: Bool = false, executable: URL? = nil) throws {
        guard let executable = executable ?? Bundle.main.executableURL else {
            throw ToolError("this program does not know its own path, which it needs to run its commands")
        }
        error = keepsErrors ? Pipe() : nil
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        if let error { process.standardError = error }
        try process.run()
    }

    /// Runs the program to its end.
    static func run(_ arguments: [String], executable: URL? = nil) throws -> Output {
        let tool = try ToolProcess(arguments, keepsErrors: true, executable: executable)
        try tool.input.fileHandleForWriting.close()
        // Both outputs are far smaller than a pipe holds, so one can be read after the other.
        let out = try tool.output.fileHandleForReading.readToEnd() ?? Data()
        let err = try tool.error?.fileHandleForReading.readToEnd() ?? Data()
        tool.process.waitUntilExit()
        return Output(
            status: tool.status, out: String(decoding: out, as: UTF8.self), err: String(decoding: err, as: UTF8.self))
    }

    /// Writes a line to the program's standard input.
    func write(line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// The next line of its standard output; nil when it has ended, or has written none for `seconds`.
    func readLine(within seconds: Double = 20) -> String? {
        let alarm = DispatchWorkItem { [process] in process.terminate() }
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

    /// Waits for the process to end by itself; returns its status.
    func wait() -> Int32 {
        process.waitUntilExit()
        return status
    }

    /// Ends the process as no program can prevent, as when the power goes; returns its status.
    func killNow() -> Int32 {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return status
    }

    /// Sends it a signal.
    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// What it wrote to standard error, once it has ended.
    func errors() -> String {
        String(decoding: (try? error?.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
    }

    /// Asks the process to end, and waits for that.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    private var status: Int32 {
        process.terminationReason == .uncaughtSignal ? 128 + process.terminationStatus : process.terminationStatus
    }
}
