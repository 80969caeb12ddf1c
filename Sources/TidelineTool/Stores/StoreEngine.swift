#if Serve
internal import ArgumentParser
internal import Foundation
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite
internal import TidelineStore
internal import TidelineSupport

/// A kind of store that the tool opens by name. To add an adapter, add an entry to ``all``.
struct StoreEngine: Sendable {
    /// Opens the store. A command calls it after the settings have been checked.
    typealias Opener = @Sendable () throws -> any LocalStore

    /// The name before the colon in `--store`.
    var name: String
    /// The part after the colon, for help, or `nil` if the engine has no path.
    var usage: String?
    /// Whether the store keeps its rows when it is closed.
    var keepsRows: Bool
    /// The names of the settings that the engine accepts.
    var settings: [String]
    /// Whether the part after the colon may be empty.
    var allowsEmptyPath = false
    /// Whether the size of a store can be limited.
    var limitsSize = false
    /// The setting that distinguishes the stores of a command that creates them, for an engine whose stores have no
    /// folder.
    var nameSetting: String?
    /// Prepares a command that creates its own stores. Throws `ValidationError` if it cannot.
    var prepare: (@Sendable (_ settings: StoreSettings) throws -> Void)?
    /// Removes the store at a path with all its files. `nil` if the engine has no files.
    var destroy: (@Sendable (_ path: String, _ settings: StoreSettings) throws -> Void)?
    /// Checks the settings and returns an opener. Does not open anything.
    var makeOpener: @Sendable (_ path: String, _ settings: StoreSettings, _ access: StoreAccess) throws -> Opener

    /// The engines that need nothing but a folder, in the order in which help lists them.
    static let all: [StoreEngine] = [.sqlite, .lmdb, .leveldb, .memory]

    /// The engines that need a server. Commands that run with all engines use one of these only if it is named.
    static let others: [StoreEngine] = {
        #if PostgreSQL
        [.postgresql]
        #else
        []
        #endif
    }()

    /// All engines that a location can name.
    static let located = all + others

    /// Returns the engine with the given name.
    /// - Throws: `ValidationError`, with the available names, if there is no such engine.
    static func named(_ name: String, among engines: [StoreEngine] = located) throws -> StoreEngine {
        guard let engine = engines.first(where: { $0.name == name }) else {
            let names = engines.map(\.name)
            throw ValidationError(
                "there is no store engine \(name.debugDescription)." + suggestion(for: name, among: names)
                    + " The engines are: \(names.joined(separator: ", ")).")
        }
        return engine
    }

    /// Returns the engine for a store whose path the command chooses, as `--store` names it: `sqlite` or `sqlite:`.
    /// - Throws: `ValidationError` if the text contains a path or an unknown name.
    static func withoutPath(_ text: String) throws -> StoreEngine {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count < 2 || parts[1].isEmpty else {
            throw ValidationError("this command creates its own stores; remove the path \(parts[1].debugDescription).")
        }
        return try named(String(parts[0]))
    }

    /// Returns the action that removes a store in a folder, which depends on no settings.
    private static func destroying(
        _ destroy: @escaping @Sendable (_ path: String) throws -> Void
    ) -> @Sendable (String, StoreSettings) throws -> Void {
        { path, _ in try destroy(path) }
    }

    /// Returns the location of a store in `folder`, in the format of `--store`.
    func location(named name: String, in folder: URL) -> String {
        guard usage != nil else { return "\(self.name):" }
        // Commas in a path are doubled.
        let path = folder.appendingPathComponent("\(name).\(self.name)").path
        return "\(self.name):\(path.replacingOccurrences(of: ",", with: ",,"))"
    }
}

/// How a store is opened, in addition to its settings.
struct StoreAccess: Sendable {
    /// Whether to create the store if it does not exist.
    var createsIfMissing = true
    /// Whether to open the store for reading only, regardless of its settings.
    var isReadOnly = false
    /// The maximum size in bytes, or `nil` for no limit.
    var maximumSize: Int?
}

extension StoreEngine {
    static let sqlite = StoreEngine(
        name: "sqlite",
        usage: "PATH, or :memory: for a store that ends with the process",
        keepsRows: true,
        settings: ["durability", "read-only", "busy-timeout", "checksums"],
        destroy: destroying(SQLiteStore.destroy)
    ) { path, settings, access in
        var options = SQLiteOptions(createsIfMissing: access.createsIfMissing)
        options.durability = try settings.choice("durability", ["normal": .normal, "full": .full]) ?? .normal
        options.isReadOnly = try settings.isOn("read-only") || access.isReadOnly
        if let seconds = try settings.seconds("busy-timeout") { options.busyTimeout = seconds }
        options.checksums = try settings.isOn("checksums")
        return { [options] in
            path == ":memory:"
                ? try SQLiteStore.inMemory(options: options) : try SQLiteStore(path: path, options: options)
        }
    }
}

extension StoreEngine {
    static let lmdb = StoreEngine(
        name: "lmdb",
        usage: "FOLDER",
        keepsRows: true,
        settings: ["durability", "read-only", "busy-timeout", "map-size", "maximum-map-size", "verification"],
        limitsSize: true,
        destroy: destroying(LMDBStore.destroy)
    ) { path, settings, access in
        var options = LMDBOptions(createsIfMissing: access.createsIfMissing)
        options.durability =
            try settings.choice("durability", ["normal": .normal, "full": .full, "none": .none]) ?? .normal
        options.isReadOnly = try settings.isOn("read-only") || access.isReadOnly
        options.verification =
            try settings.choice(
                "verification",
                ["always": .always, "after-unclean-shutdown": .afterUncleanShutdown, "never": .never])
            ?? .afterUncleanShutdown
        if let seconds = try settings.seconds("busy-timeout") { options.busyTimeout = seconds }
        if let bytes = try settings.bytes("map-size") { options.mapSize = bytes }
        if let bytes = try settings.bytes("maximum-map-size") { options.maximumMapSize = bytes }
        if let bytes = access.maximumSize { options.maximumMapSize = bytes }
        return { [options] in try LMDBStore(path: path, options: options) }
    }

    static let leveldb = StoreEngine(
        name: "leveldb",
        usage: "FOLDER, which only one process can open at a time",
        keepsRows: true,
        settings: ["durability", "cache-size", "write-buffer-size", "filter-bits", "compression"],
        destroy: destroying(LevelDBStore.destroy)
    ) { path, settings, access in
        var options = LevelDBOptions(createsIfMissing: access.createsIfMissing)
        options.durability = try settings.choice("durability", ["normal": .normal, "full": .full]) ?? .normal
        options.compresses = try settings.isOn("compression")
        if let bytes = try settings.bytes("cache-size") { options.cacheSize = bytes }
        if let bytes = try settings.bytes("write-buffer-size") { options.writeBufferSize = bytes }
        if let bits = try settings.number("filter-bits", in: 0...64) { options.filterBits = bits }
        return { [options] in try LevelDBStore(path: path, options: options) }
    }

    static let memory = StoreEngine(name: "memory", usage: nil, keepsRows: false, settings: []) { _, _, _ in
        { try MemoryStore() }
    }
}
#endif
