internal import TidelineConformance
internal import TidelineFaults
internal import TidelineStore

extension StoreEngine {
    /// The engine's stores as the conformance suite opens them, with every hook there is.
    ///
    /// - Parameter settings: As behind a path of `--store`. A store on files syncs every commit unless they say otherwise:
    ///   the suite's promises about a loss of power are about those.
    /// - Throws: `ValidationError` for settings that the engine does not know.
    func harness(_ settings: [String] = []) throws -> StoreHarness {
        let isSet = settings.contains { $0.hasPrefix("durability=") }
        let full = self.settings.contains("durability") && !isSet ? ["durability=full"] : []
        var engine = self
        engine.settings = conformanceSettings
        let read = try StoreSettings(settings + full, of: engine)
        // What is wrong with a value is said now, not by the first check.
        _ = try makeOpener("", read, StoreAccess())
        var harness = StoreHarness(name: name, modes: modes, faults: keepsRows ? InterposedFiles() : nil) { opening in
            try makeOpener(path(in: opening.directory), read, StoreAccess(opening))()
        }
        harness.lacking = lacking
        if let destroy { harness.destroy = { try destroy(path(in: $0)) } }
        return harness
    }

    /// The settings that a store can have while it is checked: one for reading only could not even be filled.
    var conformanceSettings: [String] { settings.filter { $0 != "read-only" } }

    /// Where the suite has the store within a folder of its own.
    private func path(in directory: String) -> String { usage == nil ? "" : "\(directory)/store" }

    /// What no store of the engine can be asked for.
    private var lacking: [CheckNeed: String] {
        var lacking: [CheckNeed: String] = [:]
        if !settings.contains("read-only") { lacking[.openingReadOnly] = "there is no opening for reading only" }
        if !limitsSize { lacking[.limitedSize] = "the size has no limit but the disk's" }
        return lacking
    }

    private var modes: Set<StoreHarness.Mode> {
        var modes: Set<StoreHarness.Mode> = keepsRows ? [.existing] : []
        if settings.contains("read-only") { modes.insert(.readOnly) }
        if limitsSize { modes.insert(.limitedSize) }
        return modes
    }
}

extension StoreAccess {
    /// What the suite asks for.
    fileprivate init(_ opening: StoreOpening) {
        createsIfMissing = opening.access == .readWrite
        isReadOnly = opening.access == .readOnly
        maximumSize = opening.maximumSize
    }
}
