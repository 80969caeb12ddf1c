#if Commands
internal import CBaselines
public import TidelineBenchmark
public import TidelineStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The benchmark's work in C, directly on the engines of the stores with the same settings: the limit for the stores'
/// figures.
public enum Baselines {
    /// The names of the engines with a baseline.
    package static var engines: [String] { BaselineEngine.all.map(\.name) }

    /// Returns the baseline of an engine with a durability, or `nil` if there is none.
    public static func subject(engine: String, durability: StoreCapabilities.Durability) -> BenchmarkSubject? {
        let found = BaselineEngine.all.first { $0.name == engine && $0.durabilities.contains(durability) }
        guard let found else { return nil }
        return BenchmarkSubject(
            name: "\(engine) in C", kind: .baseline, engine: engine, engineVersion: found.version,
            settings: ["durability=\(durability.rawValue)"] + found.settings, durability: durability,
            compact: { try compact(engine: engine, path: found.path(in: $0)) },
            open: { try BaselineSession(found, $0, durability) })
    }

    /// The JSON parser simdjson, which parses pages to packed rows.
    package static let json = BenchmarkSubject(
        name: "simdjson", kind: .baseline, engine: "json",
        engineVersion: String(cString: baseline_parser_version()), durability: .none, isPersistent: false
    ) { opening in
        try PageParserSession(opening)
    }.performing(.json)

    /// Compacts a closed database with SQLite's `VACUUM`, LMDB's compacting copy, or LevelDB's full compaction.
    ///
    /// - Parameters:
    ///   - engine: One of ``engines``.
    ///   - path: The file of SQLite, or the directory of another engine.
    /// - Throws: ``BaselineError`` with the engine's message, or for an unknown engine.
    package static func compact(engine: String, path: String) throws {
        guard let found = BaselineEngine.all.first(where: { $0.name == engine }) else {
            throw BaselineError("there is no engine \(engine); the engines are \(engines.joined(separator: ", "))")
        }
        let failure = ErrorBuffer()
        defer { failure.deallocate() }
        try failure.check(found.pointer.pointee.compact(path, failure.pointer))
    }
}

/// An engine with a baseline in C.
///
/// `@unchecked Sendable`: a pointer to a constant.
struct BaselineEngine: @unchecked Sendable {
    /// The name that stores use.
    let name: String
    /// The functions of the baseline.
    let pointer: UnsafePointer<baseline_engine>
    /// The settings, the same as those of the engine's adapter.
    let settings: [String]
    /// The supported durabilities.
    let durabilities: [StoreCapabilities.Durability]
    /// The name of the database file; `nil` if the database is the directory.
    let file: String?

    static let all = [
        BaselineEngine(
            name: "sqlite", pointer: baseline_engine_sqlite(),
            settings: ["journal_mode=wal", "cache_size=8 MiB", "mmap_size=256 MiB", "wal_autocheckpoint=8000"],
            durabilities: [.normal, .full], file: "baseline.sqlite"),
        BaselineEngine(
            name: "lmdb", pointer: baseline_engine_lmdb(), settings: ["notls", "map=16 GiB"],
            durabilities: [.none, .normal, .full], file: nil),
        BaselineEngine(
            name: "leveldb", pointer: baseline_engine_leveldb(),
            settings: ["write_buffer=16 MiB", "cache=64 MiB", "bloom=10", "snappy", "verify_checksums"],
            durabilities: [.normal, .full], file: nil),
    ]

    /// The version that the engine reports.
    var version: String? { pointer.pointee.version().map { String(cString: $0) } }

    /// The path of the database in a directory.
    func path(in folder: String) -> String { file.map { "\(folder)/\($0)" } ?? folder }

    static func mode(_ durability: StoreCapabilities.Durability) -> baseline_durability {
        switch durability {
        case .none: BASELINE_NONE
        case .normal: BASELINE_NORMAL
        case .full: BASELINE_FULL
        }
    }
}

/// An error of a baseline, with the engine's message.
package struct BaselineError: Error, Sendable, CustomStringConvertible {
    /// The message.
    package let description: String

    init(_ description: String) { self.description = description }
}

extension BaselineError: LocalizedError {
    /// The same text as ``description``.
    package var errorDescription: String? { description }
}

/// A buffer for the error message of C functions. It is reused, because creating one is slower than some of the calls.
///
/// `@unchecked Sendable`: it belongs to a reader or to the writer and is used on one thread at a time.
struct ErrorBuffer: @unchecked Sendable {
    /// The buffer for C functions.
    let pointer: UnsafeMutablePointer<baseline_error>

    init() {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: baseline_error())
    }

    /// Throws the error of a function that failed.
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
#endif
