internal import CBaselines
internal import TidelineStore

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
