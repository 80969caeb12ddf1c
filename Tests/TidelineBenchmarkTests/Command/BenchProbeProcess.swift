import Foundation
import Testing
import TidelineBenchmark

/// The executable `BenchProbe`, which lies beside the tests, with a folder to work in.
struct BenchProbeProcess {
    struct Output {
        var status: Int32
        var out: String
        var err: String
    }

    let folder: URL
    private let executable: URL

    init() throws {
        let runner = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let folders = [runner, URL(fileURLWithPath: CommandLine.arguments[0])].map { $0.deletingLastPathComponent() }
        executable = try #require(
            folders.map { $0.appendingPathComponent("BenchProbe") }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) },
            "BenchProbe is not built beside the tests")
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tideline-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs it to its end.
    func run(mischief: Bool = true, _ arguments: String...) throws -> Output {
        let process = try start(arguments, mischief: mischief)
        process.waitUntilExit()
        return try output(process)
    }

    /// Starts it; its outputs go to files, its temporary files to a folder of its own.
    func start(_ arguments: [String], mischief: Bool = true) throws -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        for name in ["out", "err"] { try Data().write(to: folder.appendingPathComponent(name)) }
        process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent("out"))
        process.standardError = try FileHandle(forWritingTo: folder.appendingPathComponent("err"))
        process.standardInput = FileHandle.nullDevice
        try FileManager.default.createDirectory(atPath: path("tmp"), withIntermediateDirectories: true)
        var environment = ["TMPDIR": path("tmp")]
        if mischief { environment["MISCHIEF"] = "1" }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try process.run()
        return process
    }

    /// Waits until something holds; a minute is more than any machine needs for it.
    func wait(until holds: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !holds() {
            try #require(ContinuousClock.now < deadline, "it does not get so far")
            usleep(10_000)
        }
    }

    /// What a process has written, and its status when it has ended.
    func output(_ process: Process) throws -> Output {
        Output(
            status: process.isRunning ? -1 : process.terminationStatus,
            out: try String(contentsOfFile: path("out"), encoding: .utf8),
            err: try String(contentsOfFile: path("err"), encoding: .utf8))
    }

    /// The report that a run has written.
    func report(_ name: String = "report.json") throws -> BenchmarkReport {
        try BenchmarkReport(json: Data(contentsOf: folder.appendingPathComponent(name)), path: name)
    }

    /// What is left in the folder for temporary files.
    func leftovers() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path("tmp")) }
}
