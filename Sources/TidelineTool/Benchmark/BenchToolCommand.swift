#if Benchmark
    internal import ArgumentParser
    internal import TidelineBaselines
    internal import TidelineBenchmark
    internal import TidelineBenchmarkCommand

    /// `tideline bench`: runs the benchmark on the stores of the tool, and on the engines alone for comparison.
    struct BenchToolCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "bench",
            abstract: BenchOptions.abstract,
            discussion: """
                \(BenchOptions.discussion)

                The stores and their settings: \(stores). Stores on files have durability=normal unless you set it.
                """
        )

        @OptionGroup var options: BenchOptions

        func run() async throws {
            let stores = BenchStores(
                names: StoreEngine.all.map(\.name),
                settings: { name in (try? StoreEngine.named(name).benchmarkSettings) ?? [] },
                baseline: { Baselines.subject(engine: $0, durability: $1) },
                others: JSONSubjects.all + [Baselines.json],
                configuring: { try StoreEngine.named($0).benchmarkSubject($1) })
            let status = try await BenchCommand.run(options, stores: stores)
            if status != 0 { throw ExitCode(status) }
        }

        private static var stores: String {
            StoreEngine.all.map { engine in
                let settings = engine.benchmarkSettings.joined(separator: ", ")
                return settings.isEmpty ? engine.name : "\(engine.name) (\(settings))"
            }.joined(separator: ", ")
        }
    }
#endif
