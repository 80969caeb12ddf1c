/// A failure that the person at the terminal can do something about; ends the command with status 1.
struct ToolError: Error, CustomStringConvertible {
    /// What happened and what to do.
    var message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}
