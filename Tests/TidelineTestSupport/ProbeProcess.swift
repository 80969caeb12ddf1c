public import Foundation
internal import Synchronization

/// An executable in the same folder as the tests, with a working folder. The release of the last reference ends the
/// running processes and removes the folder.
public struct ProbeProcess {
    /// The exit status and the output of a process.
    public struct Output {
        /// The exit status, or -1 while the process runs.
        public var status: Int32
        /// The content of standard output.
        public var out: String
        /// The content of standard error.
        public var err: String
    }

    /// The error thrown when the probe is not built or does not reach the expected state.
    public struct Failure: Error, CustomStringConvertible {
        /// The description of the failure.
        public let description: String
    }

    /// The working folder.
    public var folder: URL { workspace.folder }
    private let executable: URL
    private let workspace: Workspace

    /// Finds the executable with the given name and makes a working folder.
    public init(_ name: String) throws {
        let runner = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let folders = [runner, URL(fileURLWithPath: CommandLine.arguments[0])].map { $0.deletingLastPathComponent() }
        let places = folders.map { $0.appendingPathComponent(name) }
        guard let executable = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw Failure(description: "\(name) is not built beside the tests")
        }
        self.executable = executable
        workspace = try Workspace()
    }

    /// Returns the path of the named file in the working folder.
    public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs the executable until it exits.
    public func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Output {
        try run(arguments, environment: environment)
    }

    /// Runs the executable until it exits.
    public func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Output {
        let process = try start(arguments, environment: environment)
        try process.finish()
        return try output(process)
    }

    /// Starts the executable. Its outputs are written to files, because they can exceed the capacity of a pipe, and it
    /// has its own folder for temporary files. The release of the last reference to the probe ends it.
    public func start(_ arguments: [String], environment: [String: String] = [:]) throws -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        for name in ["out", "err"] { try Data().write(to: folder.appendingPathComponent(name)) }
        process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent("out"))
        process.standardError = try FileHandle(forWritingTo: folder.appendingPathComponent("err"))
        process.standardInput = FileHandle.nullDevice
        try FileManager.default.createDirectory(atPath: path("tmp"), withIntermediateDirectories: true)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .merging(["TMPDIR": path("tmp")]) { $1 }
        try process.run()
        workspace.add(process)
        return process
    }

    /// Returns the output of the process so far, and its status if it has exited.
    public func output(_ process: Process) throws -> Output {
        Output(
            status: process.isRunning ? -1 : process.terminationStatus,
            out: try String(contentsOfFile: path("out"), encoding: .utf8),
            err: try String(contentsOfFile: path("err"), encoding: .utf8))
    }

    /// Returns the content of a report written by the process.
    public func data(_ name: String = "report.json") throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }

    /// Returns the names of the remaining files in the folder for temporary files, or in a folder inside it.
    public func leftovers(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path("tmp/\(folder)"))
    }
}

/// The working folder of a probe, and the processes that were started in it.
private final class Workspace: Sendable {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tideline-probe-\(UUID().uuidString)")
    private let processes = Mutex<[Process]>([])

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// Ends all running processes and removes the folder.
    deinit {
        for process in processes.withLock({ $0 }) where process.isRunning {
            process.end()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    func add(_ process: Process) { processes.withLock { $0.append(process) } }
}

/// The lines that a process writes.
public final class ProcessLines {
    private let process: Process
    private let output: Pipe
    private var unread = Data()

    /// Reads the pipe to which a process writes.
    public init(of process: Process, _ output: Pipe) { (self.process, self.output) = (process, output) }

    /// Returns the next line, or `nil` if the output has ended. A process that writes none within the time limit is
    /// ended.
    public func next() -> String? { process.limitingTime(readNext) }

    private func readNext() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            unread += more
        }
    }
}
