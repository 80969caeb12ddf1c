#if Commands
import Foundation
import TidelineTestSupport

/// A copy of the script `Benchmarks/instructions` in a new directory, with stubs for the compiler, valgrind and the
/// probe that return the given counts.
struct InstructionsScript {
    struct Outcome {
        var status: Int32
        var out: String
        var err: String
    }

    private let temporary: TemporaryFolder
    private var folder: String { temporary.path }

    /// Makes a script with its instruction counts for ten units, by subject and work.
    init(_ counts: [String: Int]) throws {
        temporary = try TemporaryFolder()
        try install()
        try count(counts)
    }

    /// Sets the counts.
    func count(_ counts: [String: Int]) throws {
        let lines = counts.keys.sorted().map { "\($0) \(counts[$0] ?? 0)\n" }
        try write(lines.joined(), to: "bin/counts")
    }

    /// Sets the version of the compiler.
    func setCompiler(_ version: String) throws { try write("Swift version \(version) (test)\n", to: "bin/version") }

    /// The content of the record.
    var record: String? { try? String(contentsOfFile: "\(folder)/Benchmarks/instructions.tsv", encoding: .utf8) }

    /// Removes a program that the script needs.
    func remove(_ program: String) throws { try FileManager.default.removeItem(atPath: "\(folder)/bin/\(program)") }

    func run(_ arguments: String...) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "\(folder)/Benchmarks/instructions")
        process.arguments = arguments
        process.environment = ["PATH": "\(folder)/bin:\(folder)/tools"]
        for name in ["out", "err"] { try write("", to: name) }
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/out"))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/err"))
        try process.run()
        try process.finish()
        return Outcome(status: process.terminationStatus, out: try read("out"), err: try read("err"))
    }

    // MARK: Stubs

    private func install() throws {
        for name in ["Benchmarks", "bin", "tools"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        let package = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
        try FileManager.default.copyItem(
            atPath: "\(package)/Benchmarks/instructions", toPath: "\(folder)/Benchmarks/instructions")
        // No other programs, so that an installed valgrind is not found.
        for tool in Self.tools { try link(tool) }
        try program("swift", "case $* in --version) cat $bin/version ;; *--show-bin-path*) echo $bin ;; esac")
        try program("objcopy", "cp $2 $3")
        try program("InstructionProbe", "case $1 in list) cut -d' ' -f1,2 $bin/counts ;; versions) ;; esac")
        try program("valgrind", Self.valgrind)
        try setCompiler("6.3")
    }

    /// Prints valgrind's output for the work in the last four arguments.
    private static let valgrind = """
        words=("$@")
        name="${words[-4]} ${words[-3]}"
        echo 10
        sed -n "s/^$name \\(.*\\)/==1== Collected : \\1/p" $bin/counts
        """

    private static let tools = [
        "awk", "bash", "cat", "cp", "cut", "diff", "dirname", "env", "getconf", "grep", "mkdir", "mktemp", "mv", "rm",
        "sed", "setarch", "tail", "true", "uname", "head", "wc",
    ]

    private func link(_ tool: String) throws {
        guard
            let path = ["/usr/bin", "/bin"].map({ "\($0)/\(tool)" }).first(where: FileManager.default.isExecutableFile)
        else { return }
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/tools/\(tool)", withDestinationPath: path)
    }

    private func program(_ name: String, _ body: String) throws {
        try write("#!/bin/bash\nset -eu\nbin='\(folder)/bin'\n\(body)\n", to: "bin/\(name)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder)/bin/\(name)")
    }

    private func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    private func read(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
}
#endif
