/// Describes how to start a second process that opens the stores of a harness.
///
/// The process can be any executable that passes its arguments to ``ConformanceChild`` before it does anything else:
/// the command that runs the suite itself, or a small executable beside the tests. Second processes are available on
/// macOS and Linux.
public struct StoreProcess: Sendable, Hashable {
    /// The path of the executable.
    public let executable: String
    /// The arguments that precede the suite's own.
    public let arguments: [String]

    #if os(macOS) || os(Linux)
    /// Creates a process description.
    public init(executable: String, arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
    }
    #endif
}
