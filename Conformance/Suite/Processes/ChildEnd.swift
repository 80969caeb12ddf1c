internal import Foundation

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
