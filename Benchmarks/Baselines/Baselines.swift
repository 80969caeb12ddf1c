internal import CBaselines
public import TidelineBenchmark
public import TidelineStore

/// The benchmark's work in C, directly on the engines below the stores, with their settings: the limit that the stores'
/// figures are held against.
public enum Baselines {
    /// The engines that have one, as stores call them.
    public static var engines: [String] { BaselineEngine.all.map(\.name) }

    /// The baseline on an engine whose commits survive as much as that; nil where there is none.
    public static func subject(engine: String, durability: StoreCapabilities.Durability) -> BenchmarkSubject? {
        let found = BaselineEngine.all.first { $0.name == engine && $0.durabilities.contains(durability) }
        guard let found else { return nil }
        return BenchmarkSubject(
            name: "\(engine) in C", kind: .baseline, engine: engine, engineVersion: found.version,
            settings: ["durability=\(durability.rawValue)"] + found.settings, durability: durability,
            compact: { try compact(engine: engine, path: found.path(in: $0)) },
            open: { try BaselineSession(found, $0, durability) })
    }

    /// simdjson, which reads the pages of a pull to packed rows and keeps nothing.
    public static let json = BenchmarkSubject(
        name: "simdjson", kind: .baseline, field: .json, engine: "json",
        engineVersion: String(cString: baseline_parser_version()), durability: .none, isPersistent: false
    ) { opening in
        try PageParserSession(opening)
    }

    /// Makes a closed database as small as it gets: by SQLite's `VACUUM`, LMDB's compacting copy, LevelDB's compaction of
    /// all there is.
    ///
    /// - Parameters:
    ///   - engine: One of ``engines``.
    ///   - path: SQLite's file; the folder of the others.
    /// - Throws: ``BaselineError`` with the engine's words, and for an engine that is none.
    public static func compact(engine: String, path: String) throws {
        guard let found = BaselineEngine.all.first(where: { $0.name == engine }) else {
            throw BaselineError("there is no engine \(engine)")
        }
        let failure = FailureText()
        defer { failure.deallocate() }
        try failure.check(found.pointer.pointee.compact(path, failure.pointer))
    }
}
