/// A promise that does not hold: what was expected and what was found.
struct CheckFailure: Error {
    /// What is wrong, for the store's author.
    var message: String
    /// Swift that shows it, where a check has a shorter one than the trace of its calls.
    var script: String?

    init(_ message: String, script: String? = nil) {
        self.message = message
        self.script = script
    }
}

/// Something the suite itself needs that failed, such as making a folder: no verdict on the store.
struct KitError: Error {
    /// What failed.
    var message: String

    init(_ message: String) { self.message = message }
}

/// A promise that this harness cannot show to hold or not; the check counts as not run.
struct NotDecidable: Error {
    /// Why.
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
