public import Foundation
internal import Synchronization

/// An executable that lies beside the tests, with a folder to work in.
public struct ProbeProcess {
    /// How a process ended, and what it has written.
    public struct Output {
        /// The exit status; -1 while it runs.
        public var status: Int32
        /// Standard output.
        public var out: String
        /// Standard error.
        public var err: String
    }

    /// The probe is not built, or does not get where it is to get.
    public struct Failure: Error, CustomStringConvertible {
        /// What went wrong.
        public let description: String
    }

    /// Where its files are.
    public let folder: URL
    private let executable: URL
    private let started = StartedProcesses()

    /// The executable of a name.
    public init(_ name: String) throws {
        let runner = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let folders = [runner, URL(fileURLWithPath: CommandLine.arguments[0])].map { $0.deletingLastPathComponent() }
        let places = folders.map { $0.appendingPathComponent(name) }
        guard let executable = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw Failure(description: "\(name) is not built beside the tests")
        }
        self.executable = executable
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tideline-probe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Ends its processes and removes its files.
    public func remove() {
        started.end()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The path of a file of a name.
    public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs it to its end.
    public func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Output {
        try run(arguments, environment: environment)
    }

    /// Runs it to its end.
    public func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Output {
        let process = try start(arguments, environment: environment)
        try process.finish()
        return try output(process)
    }

    /// Starts it; its outputs go to files, as they may be longer than a pipe holds, its temporary files to a folder of its
    /// own. ``remove()`` ends it if it runs still.
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
        started.add(process)
        return process
    }

    /// What a process has written, and its status when it has ended.
    public func output(_ process: Process) throws -> Output {
        Output(
            status: process.isRunning ? -1 : process.terminationStatus,
            out: try String(contentsOfFile: path("out"), encoding: .utf8),
            err: try String(contentsOfFile: path("err"), encoding: .utf8))
    }

    /// A report that it has written.
    public func data(_ name: String = "report.json") throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }

    /// What is left in the folder for temporary files, or one in it.
    public func leftovers(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path("tmp/\(folder)"))
    }
}

/// The processes that a probe has started.
private final class StartedProcesses: Sendable {
    private let processes = Mutex<[Process]>([])

    func add(_ process: Process) { processes.withLock { $0.append(process) } }

    /// Ends all that run.
    func end() {
        for process in processes.withLock({ $0 }) where process.isRunning {
            process.end()
            process.waitUntilExit()
        }
    }
}
