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

/// An engine with work written for it in C.
///
/// `@unchecked Sendable`: a pointer to a constant.
struct BaselineEngine: @unchecked Sendable {
    /// As stores call it.
    let name: String
    /// Its functions.
    let pointer: UnsafePointer<baseline_engine>
    /// What the adapter of the engine has it do, and so the baseline.
    let settings: [String]
    /// What a commit can be made to survive.
    let durabilities: [StoreCapabilities.Durability]
    /// The database's file in its folder; nil where the folder is the database.
    let file: String?

    static let all = [
        BaselineEngine(
            name: "sqlite", pointer: baseline_engine_sqlite(),
            settings: ["journal_mode=wal", "cache_size=64 MiB", "mmap_size=256 MiB", "wal_autocheckpoint=8000"],
            durabilities: [.normal, .full], file: "baseline.sqlite"),
        BaselineEngine(
            name: "lmdb", pointer: baseline_engine_lmdb(), settings: ["notls", "map=16 GiB"],
            durabilities: [.none, .normal, .full], file: nil),
        BaselineEngine(
            name: "leveldb", pointer: baseline_engine_leveldb(),
            settings: ["write_buffer=16 MiB", "cache=64 MiB", "bloom=10", "snappy", "verify_checksums"],
            durabilities: [.normal, .full], file: nil),
    ]

    /// The engine's version, as it tells it.
    var version: String? { pointer.pointee.version().map { String(cString: $0) } }

    /// The path of the database in a folder, as the engine takes it.
    func path(in folder: String) -> String { file.map { "\(folder)/\($0)" } ?? folder }

    static func mode(_ durability: StoreCapabilities.Durability) -> baseline_durability {
        switch durability {
        case .none: BASELINE_NONE
        case .normal: BASELINE_NORMAL
        case .full: BASELINE_FULL
        }
    }
}

/// The error of a baseline, in its engine's own words.
public struct BaselineError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Where C code writes what went wrong: kept, as making one would take longer than some of the calls.
///
/// `@unchecked Sendable`: it belongs to a reader or to the writer, and goes from thread to thread with it.
struct FailureText: @unchecked Sendable {
    /// For the C functions.
    let pointer: UnsafeMutablePointer<baseline_error>

    init() {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: baseline_error())
    }

    /// Throws what a function wrote, if it failed.
    @inline(__always)
    func check(_ result: Int32) throws(BaselineError) {
        guard result == 0 else { throw error }
    }

    private var error: BaselineError {
        withUnsafeBytes(of: pointer.pointee.text) { text in
            BaselineError(String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    func deallocate() { pointer.deallocate() }
}
