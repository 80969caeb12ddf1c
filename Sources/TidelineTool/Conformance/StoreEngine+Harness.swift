internal import TidelineConformance
internal import TidelineFaults
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
        var engine = self
        engine.settings = conformanceSettings
        let read = try StoreSettings(settings + full, of: engine)
        // Report an invalid value now instead of in the first check.
        _ = try makeOpener("", read, StoreAccess())
        var harness = StoreHarness(name: name, modes: modes, faults: keepsRows ? InterposedFiles() : nil) { opening in
            try makeOpener(path(in: opening.directory), read, StoreAccess(opening))()
        }
        harness.lacking = lacking
        if let destroy { harness.destroy = { try destroy(path(in: $0)) } }
        return harness
    }

    /// The settings that a store can have during checks. A read-only store is excluded, because it cannot be filled.
    var conformanceSettings: [String] { settings.filter { $0 != "read-only" } }

    /// Returns the path of the store within the folder that the suite provides.
    private func path(in directory: String) -> String { usage == nil ? "" : "\(directory)/store" }

    /// The features that the engine's stores do not support, each with the reason.
    private var lacking: [CheckNeed: String] {
        var lacking: [CheckNeed: String] = [:]
        if !settings.contains("read-only") { lacking[.openingReadOnly] = "the store cannot be opened for reading only" }
        if !limitsSize { lacking[.limitedSize] = "only the disk limits the size" }
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
    /// Creates the access options that the suite requests.
    fileprivate init(_ opening: StoreOpening) {
        createsIfMissing = opening.access == .readWrite
        isReadOnly = opening.access == .readOnly
        maximumSize = opening.maximumSize
    }
}
