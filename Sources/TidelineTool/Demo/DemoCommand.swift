internal import ArgumentParser
internal import Foundation

/// `tideline demo`: what Tideline promises, shown and checked on real processes and a real socket.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show and check an offline to-do list: a kill, a sync, a conflict.",
        discussion: """
            Starts a server and two clients as processes of their own, in a folder that is removed afterwards. Exit \
            status 1 if anything does not hold.
            """
    )

    @Option(
        name: .customLong("store"),
        help: ArgumentHelp(
            "The engine of all stores: \(StoreEngine.all.map(\.name).joined(separator: ", ")).", valueName: "engine"))
    var engine = "sqlite"

    @Option(help: ArgumentHelp("Play in this folder, which must be empty or new, and keep it.", valueName: "folder"))
    var keep: String?

    func validate() throws {
        let names = StoreEngine.all.map(\.name)
        guard names.contains(engine) else {
            throw ValidationError(
                "there is no store engine \(engine.debugDescription)." + suggestion(for: engine, among: names)
                    + " The engines are: \(names.joined(separator: ", ")).")
        }
    }

    func run() async throws {
        let folder = try makeFolder()
        let stage = DemoStage(folder: folder, engine: engine)
        defer {
            stage.stopServer()
            // What cannot be removed is only a temporary folder.
            if keep == nil { try? FileManager.default.removeItem(at: folder) }
        }
        let start = ContinuousClock.now
        StandardOutput.line("An offline to-do list over \(engine), with a server and two clients.")
        try await DemoStory(stage: stage).tell()
        let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
        StandardOutput.line(
            "\nAll \(stage.checks) checks hold (\(String(format: "%.1f", seconds)) s)."
                + (keep == nil ? "" : " The stores are in \(folder.path)."))
    }

    private func makeFolder() throws -> URL {
        let manager = FileManager.default
        guard let keep else {
            let folder = manager.temporaryDirectory.appendingPathComponent("tideline-demo-\(UUID().uuidString)")
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }
        let folder = URL(fileURLWithPath: keep)
        if manager.fileExists(atPath: folder.path) {
            guard try manager.contentsOfDirectory(atPath: folder.path).isEmpty else {
                throw ToolError("the folder \(keep) is not empty; the demo overwrites nothing")
            }
        } else {
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        return folder
    }
}
