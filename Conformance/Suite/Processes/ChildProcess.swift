internal import Foundation

/// A second process at its job, as the check sees it. It is used by the check's thread only.
final class ChildProcess {
    private let process: RunningProcess
    private let errorFile: String
    private let patience: TimeInterval

    /// Starts it and waits until it has begun.
    /// - Parameters:
    ///   - command: What to start.
    ///   - job: What it does.
    ///   - environment: What its environment has beyond this process' own.
    ///   - errorFile: Where its error output goes.
    ///   - patience: How long it may take for anything, in seconds.
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
            throw KitError("\(command.executable) does not do what ConformanceChild is asked for: \(end)")
        }
    }

    /// Its next line; nil when it has ended.
    func next() throws -> String? {
        switch process.lines.next(within: patience) {
        case .line(let line): return line
        case .end: return nil
        case nil:
            kill()
            throw ChildHang("a second process at work on the store says nothing for \(Int(patience)) seconds")
        }
    }

    /// Waits until it says a line.
    func expect(_ line: String) throws {
        let found = try next()
        guard found == line else {
            let reason = try found.map { "it says \($0.debugDescription)" } ?? finish().description
            throw CheckFailure("a second process at work on the store does not get to “\(line)”: \(reason)")
        }
    }

    /// Lets it go on where it waits.
    func proceed() { process.proceed() }

    /// Kills it, as a system short of memory does: it does nothing more.
    func kill() { process.kill() }

    /// Waits until it has ended.
    func finish() throws -> ChildEnd {
        var rest: [String] = []
        while let line = try next() { rest.append(line) }
        guard let (status, signal) = process.end(within: patience) else {
            kill()
            throw ChildHang("a second process at work on the store does not end within \(Int(patience)) seconds")
        }
        let errors = (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? ""
        return ChildEnd(lines: rest, status: status, signal: signal, errors: errors)
    }
}
