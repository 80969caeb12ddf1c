#if Serve
internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// `tideline demo`: demonstrates and checks Tideline's promises with real processes and a real socket.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Demonstrate and check an offline to-do list: a kill, a conflict, a hotel portal.",
        discussion: """
            Starts a server and two clients in separate processes, once for each engine, in a folder that is removed \
            afterward. Exit status 1 if a check fails, 130 after Ctrl-C.
            """
    )

    @Option(
        name: .customLong("store"),
        help: ArgumentHelp(
            "The engine of all stores: \(StoreEngine.located.map(\.name).joined(separator: ", ")).",
            discussion: """
                May be repeated. By default, the demo runs with each engine. With postgresql, it starts a database server of its \
                own, whose database two servers share; the stores of the clients are sqlite.
                """, valueName: "engine"),
        transform: StoreEngine.withoutPath)
    var engines: [StoreEngine] = []

    @Option(help: ArgumentHelp("Run in this folder, which must be empty or new, and keep it.", valueName: "folder"))
    var keep: String?

    func run() async throws {
        // If the reader of the output stops (`tideline demo | head`), the demo still stops its server and cleans up.
        signal(SIGPIPE, SIG_IGN)
        let folder = try makeFolder()
        // Ignore a folder that cannot be removed, because it is temporary.
        let remove = { @Sendable [keep] in
            guard keep == nil else { return }
            try? FileManager.default.removeItem(at: folder)
        }
        let ending = Ending()
        let interruption = Interruption {
            guard ending.begin() else { return }
            ToolProcess.killAll()
            remove()
            _exit(Interruption.status)
        }
        var failure: (any Error)?
        do { try await playAll(in: folder) } catch { failure = error }
        guard ending.begin() else { await interruption.forever() }
        interruption.end()
        remove()
        if let failure { throw failure }
    }

    /// Runs the demo with each engine.
    private func playAll(in folder: URL) async throws {
        let start = ContinuousClock.now
        let engines =
            engines.isEmpty ? StoreEngine.located.filter { $0.nameSetting == nil || Self.obstacle == nil } : engines
        var checks = 0
        for (number, engine) in engines.enumerated() {
            StandardOutput.line(
                (number == 0 ? "" : "\n\n")
                    + "An offline to-do list over \(engine.name), with a server and two clients.")
            checks += try await play(engine, in: folder)
        }
        if self.engines.isEmpty, let obstacle = Self.obstacle {
            StandardOutput.line("\n\nSkipped: the steps over PostgreSQL, with two servers. \(obstacle).")
        }
        let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
        StandardOutput.line(
            "\nAll \(checks) checks hold over \(engines.map(\.name).formatted(.list(type: .and))) "
                + "(\(String(format: "%.1f", seconds)) s)."
                + (keep == nil ? "" : " The stores are in \(folder.path)."))
    }

    /// Runs the demo with one engine, in a folder named after the engine.
    /// - Returns: The number of checks.
    private func play(_ engine: StoreEngine, in folder: URL) async throws -> Int {
        let folder = folder.appendingPathComponent(engine.name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #if PostgreSQL
        if engine.nameSetting != nil { return try await playWithDatabase(in: folder) }
        #endif
        let stage = DemoStage(folder: folder, engine: engine)
        defer { stage.stopServers() }
        try await DemoStory(stage: stage).tell()
        return stage.checks
    }

    #if PostgreSQL
    private func playWithDatabase(in folder: URL) async throws -> Int {
        let database = try DatabaseServer()
        defer { database.end() }
        let stage = DemoStage(folder: folder, engine: .sqlite, serverLocation: database.location)
        defer { stage.stopServers() }
        try await DemoDatabaseStory(stage: stage, database: database).tell()
        return stage.checks
    }
    #endif

    /// The reason that the demo does not run over PostgreSQL, or `nil`.
    private static var obstacle: String? {
        #if PostgreSQL
        DatabaseServer.obstacle
        #else
        "This program was built without libpq (package libpq-dev, trait PostgreSQL)"
        #endif
    }

    private func makeFolder() throws -> URL {
        let manager = FileManager.default
        guard let keep else {
            let folder = manager.temporaryDirectory.appendingPathComponent("tideline-demo-\(UUID().uuidString)")
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }
        let folder = URL(fileURLWithPath: keep)
        var isFolder: ObjCBool = true
        guard !manager.fileExists(atPath: folder.path, isDirectory: &isFolder) || isFolder.boolValue else {
            throw ToolError("\(keep) is a file; choose an empty or new folder")
        }
        let names: [String]
        do {
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            names = try manager.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw ToolError("the folder \(keep) cannot be used: \(error.reason)")
        }
        guard names.isEmpty else { throw ToolError("the folder \(keep) is not empty; choose an empty or new folder") }
        return folder
    }
}
#endif
