#if Commands
internal import Foundation

/// Describes how the command is run, by a user and as another process.
public struct ConformanceProgram: Sendable {
    /// The command as typed by a user, without options, such as `tideline conformance`.
    public var name: String
    /// The path of the executable.
    public var executable: String
    /// The arguments that precede the options.
    public var arguments: [String]

    /// Creates a program description.
    public init(name: String, executable: String, arguments: [String] = []) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
    }

    /// Returns a description of this executable with the given arguments before the options.
    public static func current(_ arguments: String...) -> ConformanceProgram {
        let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let name = URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent
        return ConformanceProgram(
            name: ([name] + arguments).joined(separator: " "), executable: path, arguments: arguments)
    }
}
#endif
