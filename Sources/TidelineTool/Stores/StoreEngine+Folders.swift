#if Serve
internal import TidelineStore

extension StoreEngine {
    /// The settings of a store that a command creates. A read-only store is excluded, because it cannot be filled.
    var ownSettings: [String] { settings.filter { $0 != "read-only" && $0 != nameSetting } }

    /// Whether the stores keep their rows in files of a folder.
    var keepsFiles: Bool { keepsRows && nameSetting == nil }

    /// Checks the settings of stores that a command creates, as they follow the engine's name.
    /// - Throws: `ValidationError` if a setting or its value is invalid, or if the command cannot use the engine.
    func checkedSettings(_ settings: [String]) throws -> StoreSettings {
        var engine = self
        engine.settings = ownSettings
        let read = try StoreSettings(settings, of: engine)
        // Report an invalid value now instead of when the first store is opened.
        _ = try makeOpener("", read, StoreAccess())
        try prepare?(read)
        return read
    }

    /// Opens the store in a folder that a command provides.
    func open(
        in folder: String, _ settings: StoreSettings, _ access: StoreAccess = StoreAccess()
    ) throws -> any LocalStore {
        let place = place(in: folder, settings)
        return try makeOpener(place.path, place.settings, access)()
    }

    /// Returns the path and the settings of the store in a folder that a command provides.
    func place(in folder: String, _ settings: StoreSettings) -> (path: String, settings: StoreSettings) {
        #if PostgreSQL
        if let nameSetting { return ("", settings.setting(nameSetting, to: ScratchSchemas.name(ofFolder: folder))) }
        #endif
        return (usage == nil ? "" : "\(folder)/store", settings)
    }

    /// The names of engines and their settings, for the help of a command that creates stores.
    static let ownStores = located.map { engine in
        let settings = engine.ownSettings.joined(separator: ", ")
        return settings.isEmpty ? engine.name : "\(engine.name) (\(settings))"
    }.joined(separator: ", ")

    /// How a command that creates stores is given a database, for its help; empty if there is no such engine.
    static let databaseHelp =
        others.isEmpty
        ? ""
        : """

        \(others.map(\.name).joined(separator: ", ")): used only if --store names it. The settings name the database, such as \
        postgresql,host=localhost,dbname=test,user=tester, or the environment does (PGHOST, PGDATABASE, PGUSER); the password \
        comes from PGPASSFILE or PGPASSWORD. Each store has a schema tideline_scratch_… in the database, which is removed at \
        the end. An interrupted command can leave such schemas.
        """
}
#endif
