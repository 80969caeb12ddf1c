internal import ArgumentParser
internal import TidelineConformance
internal import TidelineConformanceCommand

/// `tideline conformance`: runs the conformance suite on the stores of the tool.
struct ConformanceToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: ConformanceOptions.abstract,
        discussion: """
            \(ConformanceOptions.discussion)

            The stores and their settings: \(stores). Stores on files have durability=full unless you set it.
            """
    )

    @OptionGroup var options: ConformanceOptions

    func run() async throws {
        let stores = ConformanceStores(try StoreEngine.all.map { try $0.harness() }) { name, settings in
            try StoreEngine.named(name).harness(settings)
        }
        let status = try await ConformanceCommand.run(
            options, stores: stores, program: .current(Self.configuration.commandName ?? ""))
        if status != 0 { throw ExitCode(status) }
    }

    private static var stores: String {
        StoreEngine.all.map { engine in
            let settings = engine.conformanceSettings.joined(separator: ", ")
            return settings.isEmpty ? engine.name : "\(engine.name) (\(settings))"
        }.joined(separator: ", ")
    }
}
