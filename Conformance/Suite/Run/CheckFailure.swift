/// A broken promise: the expected and the actual behavior.
struct CheckFailure: Error {
    /// The problem, described for the store's author.
    var message: String
    /// Swift code that reproduces the failure, if a check has a shorter form than the trace of its calls.
    var script: String?

    init(_ message: String, script: String? = nil) {
        self.message = message
        self.script = script
    }
}

/// A failure of the suite itself, such as creating a directory. It is no verdict on the store.
struct HarnessError: Error, CustomStringConvertible {
    /// The operation that failed.
    var message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}

/// A promise that cannot be verified with this harness. The check counts as not run.
struct NotDecidable: Error {
    /// The reason why the promise cannot be verified.
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
