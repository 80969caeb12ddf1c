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

            The stores and their settings: \(StoreEngine.ownStores). Stores that keep their rows have durability=full \
            unless you set it.
            \(StoreEngine.databaseHelp)
            """
    )

    @OptionGroup var options: ConformanceOptions

    func run() async throws {
        #if PostgreSQL
            defer { ScratchSchemas.removeAll() }
        #endif
        var stores = ConformanceStores(try StoreEngine.all.map { try $0.harness() }) { name, settings in
            try StoreEngine.named(name, among: StoreEngine.located).harness(settings)
        }
        stores.others = StoreEngine.others.map(\.name)
        let status = try await ConformanceCommand.run(
            options, stores: stores, program: .current(Self.configuration.commandName ?? ""))
        if status != 0 { throw ExitCode(status) }
    }
}
