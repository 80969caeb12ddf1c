internal import TidelineSQLite
internal import TidelineStore

/// A kind of store that the tool opens by name. A new adapter is one more entry in ``all``.
struct StoreEngine: Sendable {
    /// Opens the store when the command gets to it.
    typealias Opener = @Sendable () throws -> any LocalStore

    /// What stands before the colon in `--store`.
    var name: String
    /// What stands after it, for help.
    var usage: String
    /// The settings it knows.
    var settings: [String]
    /// Checks the settings, before anything is opened.
    var makeOpener: @Sendable (_ path: String, _ settings: StoreSettings) throws -> Opener

    /// The engines there are, in the order help lists them.
    static let all: [StoreEngine] = [.sqlite]

    static func named(_ name: String) -> StoreEngine? { all.first { $0.name == name } }
}

extension StoreEngine {
    static let sqlite = StoreEngine(
        name: "sqlite",
        usage: "PATH, or :memory: for a store that ends with the process",
        settings: ["durability", "read-only", "busy-timeout"]
    ) { path, settings in
        var options = SQLiteOptions()
        options.durability = try settings.choice("durability", ["normal": .normal, "full": .full]) ?? .normal
        options.isReadOnly = try settings.choice("read-only", ["yes": true, "no": false]) ?? false
        if let seconds = try settings.seconds("busy-timeout") { options.busyTimeout = seconds }
        return { [options] in
            path == ":memory:"
                ? try SQLiteStore.inMemory(options: options) : try SQLiteStore(path: path, options: options)
        }
    }
}
