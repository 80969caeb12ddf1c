import Foundation
import TidelineSupport
import TidelineTestSupport

/// Compiles a printed script against the modules of this build, together with a main program, and runs it.
enum ScriptCompiler {
    /// The exit status of a program, and the output of the program and the compiler.
    struct Outcome {
        var status: Int32
        var output: String
    }

    /// The folder of the built modules and objects: next to the program that runs the tests.
    private static let products: URL? = {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let module = folder.appendingPathComponent("Modules/TidelineMemory.swiftmodule")
        return FileManager.default.fileExists(atPath: module.path) ? folder : nil
    }()

    /// Whether a compiler and the modules of this build are available.
    static let isAvailable = products != nil && (try? run("/usr/bin/env", ["swiftc", "--version"]))?.status == 0

    /// Compiles a script's function and runs it on the store that an expression creates.
    static func run(_ script: String, calling function: String, on store: String) throws -> Outcome {
        try withTemporaryFolder { folder in
            let main = """
                import Foundation
                import TidelineMemory

                do {
                    try \(function) { _ in try \(store) }
                } catch {
                    print(error)
                    exit(1)
                }
                """
            try script.write(toFile: "\(folder)/script.swift", atomically: true, encoding: .utf8)
            try main.write(toFile: "\(folder)/main.swift", atomically: true, encoding: .utf8)
            let own = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "ForgetfulStore.swift")
            let sources = ["\(folder)/script.swift", "\(folder)/main.swift", own.path]
            let options = ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-o", "\(folder)/program"]
            let built = try run("/usr/bin/env", options + inputs + sources)
            return built.status == 0 ? try run("\(folder)/program", []) : built
        }
    }

    /// The modules and the objects of the stores' targets, as the build links them into the tests. The build folders
    /// may also contain objects of removed sources.
    private static var inputs: [String] {
        guard let products else { return [] }
        let list = products.appendingPathComponent("tidelinePackageTests.product/Objects.LinkFileList")
        let linked = ((try? String(contentsOf: list, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        let folders = ["TidelineStore", "TidelineKeyValue", "TidelineMemory"].map { "/\($0).build/" }
        let objects = linked.filter { object in folders.contains { object.contains($0) } }
        return ["-I", products.appendingPathComponent("Modules").path] + objects
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Outcome {
        let process = Process()
        let pipe = Pipe.uninherited()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let alarm = DispatchWorkItem { [weak process] in process?.end() }
        DispatchQueue.global().asyncAfter(deadline: .now() + WaitLimit.seconds, execute: alarm)
        defer { alarm.cancel() }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        try process.finish()
        return Outcome(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
    }
}
