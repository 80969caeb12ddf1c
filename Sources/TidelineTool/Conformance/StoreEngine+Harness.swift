#if Tool
internal import TidelineConformance
internal import TidelineFaults
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite
internal import TidelineStore

extension StoreEngine {
    /// Returns a harness that opens the engine's stores for the conformance suite, with all hooks that the engine
    /// supports.
    ///
    /// - Parameter settings: The settings, as after the path in `--store`. A store on files syncs each commit unless a
    ///   setting changes the durability, because the suite's promises about power loss apply to such stores.
    /// - Throws: `ValidationError` if the engine does not have one of the settings.
    func harness(_ settings: [String] = []) throws -> StoreHarness {
        let isSet = settings.contains { $0.hasPrefix("durability=") }
        let full = self.settings.contains("durability") && !isSet ? ["durability=full"] : []
        let read = try checkedSettings(settings + full)
        var harness = StoreHarness(
            name: name, modes: modes, faults: keepsFiles ? InterposedFiles() : nil, damagesFiles: keepsFiles
        ) { opening in
            try open(in: opening.directory, read, StoreAccess(opening))
        }
        harness.keepsFiles = keepsFiles || !keepsRows
        harness.lacking = lacking
        switch name {
        case StoreEngine.lmdb.name: harness.engine = { try LMDBEngine(path: place(in: $0, read).path) }
        case StoreEngine.leveldb.name: harness.engine = { try LevelDBEngine(path: place(in: $0, read).path) }
        case StoreEngine.memory.name: harness.engine = { _ in MemoryEngine() }
        default: break
        }
        if let destroy {
            harness.destroy = { folder in
                let place = place(in: folder, read)
                try destroy(place.path, place.settings)
            }
        }
        return harness
    }

    /// The features that the engine's stores do not support, each with the reason.
    private var lacking: [CheckNeed: String] {
        var lacking = StoreHarness.lackingInAll
        if !settings.contains("read-only") { lacking[.openingReadOnly] = "the store cannot be opened for reading only" }
        if !limitsSize { lacking[.limitedSize] = "only the disk limits the size" }
        if keepsRows, !keepsFiles {
            lacking[.files] = "the rows are in the files of a server"
            lacking[.faults] = "the files are written by a server"
            lacking[.damage] = "the files belong to a server, which verifies them itself"
            lacking[.fixtures] = "no earlier version was released"
        }
        return lacking
    }

    private var modes: Set<StoreHarness.Mode> {
        var modes: Set<StoreHarness.Mode> = keepsRows ? [.existing] : []
        if settings.contains("read-only") { modes.insert(.readOnly) }
        if limitsSize { modes.insert(.limitedSize) }
        return modes
    }
}

extension StoreHarness {
    static let sqliteInMemoryName = "sqlite-memory"

    /// A database of SQLite in memory, which has connections and locks of another kind than one in a file.
    static var sqliteInMemory: StoreHarness {
        var harness = StoreHarness(name: sqliteInMemoryName, modes: []) { _ in try SQLiteStore.inMemory() }
        harness.lacking = lackingInAll
        return harness
    }

    /// The features that no store of the tool supports.
    fileprivate static let lackingInAll: [CheckNeed: String] = [
        .clock: "nothing in the store ends after a time", .engine: "the store is not built on a key-value engine",
    ]
}

extension StoreAccess {
    /// Creates the access options that the suite requests.
    fileprivate init(_ opening: StoreOpening) {
        createsIfMissing = opening.access == .readWrite
        isReadOnly = opening.access == .readOnly
        maximumSize = opening.maximumSize
    }
}
#endif
