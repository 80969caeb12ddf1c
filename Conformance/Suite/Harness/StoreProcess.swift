/// How to start a second process that opens the stores of a harness.
///
/// The process is any executable that hands its arguments to ``ConformanceChild`` before it does anything else: the
/// command that runs the suite itself, or a small one beside the tests. There are such processes on macOS and Linux.
public struct StoreProcess: Sendable, Hashable {
    /// The path of the executable.
    public let executable: String
    /// What comes before the suite's own arguments.
    public let arguments: [String]

    #if os(macOS) || os(Linux)
        /// A process.
        public init(executable: String, arguments: [String] = []) {
            self.executable = executable
            self.arguments = arguments
        }
    #endif
}
