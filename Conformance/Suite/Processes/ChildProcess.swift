internal import Foundation

/// A second process that carries out a job, as seen by the check. Only the check's thread uses it.
final class ChildProcess {
    private let process: RunningProcess
    private let errorFile: String
    private let patience: TimeInterval

    /// Starts the process and waits until it has begun. Each wait takes at most `patience` seconds.
    init(
        _ command: StoreProcess, job: ChildJob, environment: [String: String], errorFile: String,
        patience: TimeInterval
    ) throws {
        self.errorFile = errorFile
        self.patience = patience
        let text = String(decoding: try JSONEncoder().encode(job), as: UTF8.self)
        process = try RunningProcess(
            command.executable, arguments: command.arguments + [ChildJob.marker, text], environment: environment,
            errorFile: errorFile)
        guard try next() == ChildLine.greeting else {
            let end = try finish()
            throw HarnessError("\(command.executable) does not run ConformanceChild: \(end)")
        }
    }

    /// Returns its next line, or `nil` if it has ended.
    func next() throws -> String? {
        switch process.lines.next(within: patience) {
        case .line(let line): return line
        case .end: return nil
        case nil:
            kill()
            throw ChildHang("a second process that works on the store printed nothing for \(Int(patience)) seconds")
        }
    }

    /// Waits until the process prints a line.
    func expect(_ line: String) throws {
        let found = try next()
        guard found == line else {
            let reason = try found.map { "it printed \($0.debugDescription)" } ?? finish().description
            throw CheckFailure("a second process that works on the store does not reach “\(line)”: \(reason)")
        }
    }

    /// Lets the process continue from its wait.
    func proceed() { process.proceed() }

    /// Kills the process immediately, as a system short of memory does.
    func kill() { process.kill() }

    /// Waits until the process has ended.
    func finish() throws -> ChildEnd {
        var rest: [String] = []
        while let line = try next() { rest.append(line) }
        guard let (status, signal) = process.end(within: patience) else {
            kill()
            throw ChildHang("a second process that works on the store does not end within \(Int(patience)) seconds")
        }
        let errors = (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? ""
        return ChildEnd(lines: rest, status: status, signal: signal, errors: errors)
    }
}

/// How a second process ended.
struct ChildEnd: CustomStringConvertible {
    /// The signal that cannot be caught.
    static let killSignal: Int32 = 9

    /// The printed lines that have not been read yet.
    var lines: [String]
    /// The exit status, if the process exited by itself.
    var status: Int32
    /// The signal that terminated the process, or `nil` if it exited by itself.
    var signal: Int32?
    /// The contents of its standard error.
    var errors: String

    /// The error that it reported.
    var failure: ChildFailure? {
        let lines = errors.split(separator: "\n").reversed()
        return lines.lazy.compactMap { try? JSONDecoder().decode(ChildFailure.self, from: Data($0.utf8)) }.first
    }

    /// Whether the process completed its job.
    var isWell: Bool { signal == nil && status == ChildJob.Status.done }

    var description: String {
        if let signal { return "it crashed with signal \(signal)\(detail)" }
        if let failure { return "it failed: \(failure)" }
        return isWell ? "it has ended" : "it ended with status \(status)\(detail)"
    }

    private var detail: String {
        let last = errors.split(separator: "\n").suffix(3).joined(separator: " ")
        return last.isEmpty ? "" : ": \(last)"
    }
}
