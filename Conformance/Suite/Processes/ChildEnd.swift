internal import Foundation

/// How a second process ended.
struct ChildEnd: CustomStringConvertible {
    /// The signal that cannot be caught.
    static let killSignal: Int32 = 9

    /// What it had printed that was not read before.
    var lines: [String]
    /// Its exit status, where it ended by itself.
    var status: Int32
    /// The signal that ended it; nil where it ended by itself.
    var signal: Int32?
    /// What is on its error output.
    var errors: String

    /// What went wrong in it.
    var failure: ChildFailure? {
        let lines = errors.split(separator: "\n").reversed()
        return lines.lazy.compactMap { try? JSONDecoder().decode(ChildFailure.self, from: Data($0.utf8)) }.first
    }

    /// Whether it did all it had to.
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
