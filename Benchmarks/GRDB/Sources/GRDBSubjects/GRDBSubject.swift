public import TidelineBenchmark
public import TidelineStore

/// GRDB as a subject of the benchmark, in the two ways in which its users write it.
public enum GRDBSubject {
    /// The names of the ways: records that are `Codable`; SQL with cached statements and rows.
    public static let names = ["grdb-codable", "grdb-raw"]

    /// One of them; nil for another name.
    /// - Parameter durability: What a commit survives, normal or full.
    public static func named(
        _ name: String, durability: StoreCapabilities.Durability = .normal
    ) -> BenchmarkSubject? {
        switch name {
        case "grdb-codable": make(name, durability) { try GRDBSession<CodableWay>($0, durability: durability) }
        case "grdb-raw": make(name, durability) { try GRDBSession<RawWay>($0, durability: durability) }
        default: nil
        }
    }

    private static func make(
        _ name: String, _ durability: StoreCapabilities.Durability,
        _ open: @escaping @Sendable (BenchmarkOpening) throws -> any BenchmarkSession
    ) -> BenchmarkSubject {
        BenchmarkSubject(
            name: name, kind: .other, engine: "sqlite", settings: ["durability=\(durability)"],
            durability: durability, open: open)
    }
}
