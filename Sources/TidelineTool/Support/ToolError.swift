#if Serve
/// A failure that the user can correct. Ends the command with status 1.
struct ToolError: Error, CustomStringConvertible {
    /// The problem and how to correct it.
    var message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}
#endif
