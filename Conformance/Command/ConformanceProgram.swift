internal import Foundation

/// How the command is run, by a person and as another process.
public struct ConformanceProgram: Sendable {
    /// The command as one types it, without options, such as `tideline conformance`.
    public var name: String
    /// The path of the executable.
    public var executable: String
    /// What comes before the options.
    public var arguments: [String]

    /// A program.
    public init(name: String, executable: String, arguments: [String] = []) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
    }

    /// This executable, with these words before the options.
    public static func current(_ arguments: String...) -> ConformanceProgram {
        let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let name = URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent
        return ConformanceProgram(
            name: ([name] + arguments).joined(separator: " "), executable: path, arguments: arguments)
    }
}
