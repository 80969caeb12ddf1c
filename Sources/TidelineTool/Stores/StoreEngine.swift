internal import ArgumentParser
internal import Foundation
internal import TidelineCommandSupport
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite
internal import TidelineStore

/// A kind of store that the tool opens by name. A new adapter is one more entry in ``all``.
struct StoreEngine: Sendable {
    /// Opens the store when the command gets to it.
    typealias Opener = @Sendable () throws -> any LocalStore

    /// What stands before the colon in `--store`.
    var name: String
    /// What stands after it, for help; nil where nothing may stand there.
    var usage: String?
    /// Whether the rows are there again when the store is opened again.
    var keepsRows: Bool
    /// The settings it knows.
    var settings: [String]
    /// Whether a store's size can be limited.
    var limitsSize = false
    /// Removes the store at a path with all its files; nil where it has none.
    var destroy: (@Sendable (_ path: String) throws -> Void)?
    /// Checks the settings, before anything is opened.
    var makeOpener: @Sendable (_ path: String, _ settings: StoreSettings, _ access: StoreAccess) throws -> Opener

    /// The engines there are, in the order help lists them.
    static let all: [StoreEngine] = [.sqlite, .lmdb, .leveldb, .memory]

    /// The engine of that name.
    /// - Throws: `ValidationError` with the names there are.
    static func named(_ name: String) throws -> StoreEngine {
        guard let engine = all.first(where: { $0.name == name }) else {
            let names = all.map(\.name)
            throw ValidationError(
                "there is no store engine \(name.debugDescription)." + suggestion(for: name, among: names)
                    + " The engines are: \(names.joined(separator: ", ")).")
        }
        return engine
    }

    /// The engine of a store whose place the command chooses, as `--store` names it: `sqlite`, or `sqlite:`.
    /// - Throws: `ValidationError` for a path, or a name that is none.
    static func withoutPath(_ text: String) throws -> StoreEngine {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count < 2 || parts[1].isEmpty else {
            throw ValidationError("this command makes its own stores: leave out the path \(parts[1].debugDescription).")
        }
        return try named(String(parts[0]))
    }

    /// The location, as `--store` takes it, of a store in `folder`.
    func location(named name: String, in folder: URL) -> String {
        guard usage != nil else { return "\(self.name):" }
        // A comma in a path is written twice.
        let path = folder.appendingPathComponent("\(name).\(self.name)").path
        return "\(self.name):\(path.replacingOccurrences(of: ",", with: ",,"))"
    }
}

/// How a store is opened, apart from its settings.
struct StoreAccess: Sendable {
    /// Whether one that does not exist is made.
    var createsIfMissing = true
    /// Whether it is opened for reading only, whatever the settings say.
    var isReadOnly = false
    /// How many bytes it may take; nil for no limit.
    var maximumSize: Int?
}

extension StoreEngine {
    static let sqlite = StoreEngine(
        name: "sqlite",
        usage: "PATH, or :memory: for a store that ends with the process",
        keepsRows: true,
        settings: ["durability", "read-only", "busy-timeout", "checksums"],
        destroy: SQLiteStore.destroy
    ) { path, settings, access in
        var options = SQLiteOptions(createsIfMissing: access.createsIfMissing)
        options.durability = try settings.choice("durability", ["normal": .normal, "full": .full]) ?? .normal
        options.isReadOnly = try settings.choice("read-only", ["yes": true, "no": false]) ?? false || access.isReadOnly
        if let seconds = try settings.seconds("busy-timeout") { options.busyTimeout = seconds }
        options.checksums = try settings.choice("checksums", ["yes": true, "no": false]) ?? false
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
        destroy: LMDBStore.destroy
    ) { path, settings, access in
        var options = LMDBOptions(createsIfMissing: access.createsIfMissing)
        options.durability =
            try settings.choice("durability", ["normal": .normal, "full": .full, "none": .none]) ?? .normal
        options.isReadOnly = try settings.choice("read-only", ["yes": true, "no": false]) ?? false || access.isReadOnly
        options.verification =
            try settings.choice("verification", ["on-open": .onOpen, "never": .never]) ?? .onOpen
        if let seconds = try settings.seconds("busy-timeout") { options.busyTimeout = seconds }
        if let bytes = try settings.bytes("map-size") { options.mapSize = bytes }
        if let bytes = try settings.bytes("maximum-map-size") { options.maximumMapSize = bytes }
        if let bytes = access.maximumSize {
            options.mapSize = min(options.mapSize, bytes)
            options.maximumMapSize = bytes
        }
        return { [options] in try LMDBStore(path: path, options: options) }
    }

    static let leveldb = StoreEngine(
        name: "leveldb",
        usage: "FOLDER, which one process has open at a time",
        keepsRows: true,
        settings: ["durability", "cache-size", "write-buffer-size", "filter-bits", "compression"],
        destroy: LevelDBStore.destroy
    ) { path, settings, access in
        var options = LevelDBOptions(createsIfMissing: access.createsIfMissing)
        options.durability = try settings.choice("durability", ["normal": .normal, "full": .full]) ?? .normal
        options.compresses = try settings.choice("compression", ["yes": true, "no": false]) ?? false
        if let bytes = try settings.bytes("cache-size") { options.cacheSize = bytes }
        if let bytes = try settings.bytes("write-buffer-size") { options.writeBufferSize = bytes }
        if let bits = try settings.number("filter-bits", in: 0...64) { options.filterBits = bits }
        return { [options] in try LevelDBStore(path: path, options: options) }
    }

    static let memory = StoreEngine(name: "memory", usage: nil, keepsRows: false, settings: []) { _, _, _ in
        { try MemoryStore() }
    }
}
