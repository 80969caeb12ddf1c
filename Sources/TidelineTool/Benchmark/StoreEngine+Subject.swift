#if Benchmark
internal import TidelineBaselines
internal import TidelineBenchmark
internal import TidelineStore

extension StoreEngine {
    /// Returns a subject that opens the engine's stores for the benchmark.
    ///
    /// - Parameter settings: The settings, as after the path in `--store`.
    /// - Throws: `ValidationError` if the engine does not have one of the settings.
    func benchmarkSubject(_ settings: [String] = []) throws -> BenchmarkSubject {
        let read = try checkedSettings(settings)
        let isSet = settings.contains { $0.hasPrefix("durability=") }
        let normal = self.settings.contains("durability") && !isSet ? ["durability=normal"] : []
        let version = Baselines.subject(engine: name, durability: .normal)?.engineVersion
        var store = BenchmarkStore(
            name: name, engine: name, engineVersion: version, settings: normal + settings
        ) { directory in
            try open(in: directory, read)
        }
        if Baselines.engines.contains(name) {
            store.compact = { try Baselines.compact(engine: name, path: place(in: $0, read).path) }
        }
        return try store.makeSubject()
    }
}
#endif
