/// How to start a second process that opens the stores of a harness.
///
/// The process is any executable that hands its arguments to ``ConformanceChild``.
public struct StoreProcess: Sendable, Hashable {
    /// The path of the executable.
    public var executable: String
    /// What comes before the suite's own arguments.
    public var arguments: [String]

    /// A process.
    public init(executable: String, arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
    }
}
