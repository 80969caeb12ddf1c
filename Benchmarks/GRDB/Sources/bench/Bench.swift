internal import ArgumentParser
internal import GRDBSubjects
internal import TidelineBaselines
internal import TidelineBenchmark
internal import TidelineSQLite
internal import TidelineStore

/// Compares Tideline's SQLite store, the same work in C, and GRDB in two styles.
@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: BenchOptions.abstract, discussion: BenchOptions.discussion)

    @OptionGroup var options: BenchOptions

    func run() async throws {
        let status = try await BenchCommand.run(options, stores: Self.stores)
        if status != 0 { throw ExitCode(status) }
    }

    private static var stores: BenchStores {
        BenchStores(
            names: ["sqlite"] + GRDBSubject.names, settings: { _ in ["durability"] },
            baseline: { Baselines.subject(engine: $0, durability: $1) },
            configuring: { try subject($0, durability(of: $1)) })
    }

    private static func subject(_ name: String, _ durability: StoreCapabilities.Durability) throws -> BenchmarkSubject {
        if let subject = GRDBSubject.named(name, durability: durability) { return subject }
        return try BenchmarkStore(name: name, engine: "sqlite", settings: ["durability=\(durability)"]) { directory in
            try SQLiteStore(path: directory + "/store.sqlite", options: SQLiteOptions(durability: durability))
        }.makeSubject()
    }

    private static func durability(of settings: [String]) throws -> StoreCapabilities.Durability {
        guard let setting = settings.last else { return .normal }
        switch setting {
        case "durability=normal": return .normal
        case "durability=full": return .full
        default: throw ValidationError("unknown setting \(setting); use durability=normal or durability=full.")
        }
    }
}
