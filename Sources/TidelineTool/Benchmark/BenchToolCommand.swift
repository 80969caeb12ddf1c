#if Benchmark
internal import ArgumentParser
internal import TidelineBaselines
internal import TidelineBenchmark

/// `tideline bench`: runs the benchmark on the stores of the tool, and on the engines alone for comparison.
struct BenchToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: BenchOptions.abstract,
        discussion: """
            \(BenchOptions.discussion)

            The stores and their settings: \(StoreEngine.ownStores). Stores that keep their rows have durability=normal \
            unless you set it.
            \(StoreEngine.databaseHelp)
            """
    )

    @OptionGroup var options: BenchOptions

    func run() async throws {
        #if PostgreSQL
        defer { ScratchSchemas.removeAll() }
        #endif
        var stores = BenchStores(
            names: StoreEngine.all.map(\.name),
            settings: { name in (try? StoreEngine.named(name, among: StoreEngine.located).ownSettings) ?? [] },
            baseline: { Baselines.subject(engine: $0, durability: $1) },
            others: JSONSubjects.all + [Baselines.json],
            configuring: { try StoreEngine.named($0, among: StoreEngine.located).benchmarkSubject($1) })
        stores.moreNames = StoreEngine.others.map(\.name)
        let status = try await BenchCommand.run(options, stores: stores)
        if status != 0 { throw ExitCode(status) }
    }
}
#endif
