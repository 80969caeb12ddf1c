#if Commands
internal import Foundation
public import TidelineStore

/// A local store to measure, as its author provides it; only ``open`` is required.
///
/// ```swift
/// BenchmarkStore { directory in try MyStore(directory: directory) }
/// ```
public struct BenchmarkStore: Sendable {
    /// The name in reports; by default the name in the store's capabilities.
    public var name: String?
    /// The engine below, which selects the baseline; by default the name in the store's capabilities.
    public var engine: String?
    /// The version of the engine.
    public var engineVersion: String?
    /// The settings to show in reports, such as `durability=full`.
    public var settings: [String]
    /// Compacts the files of the closed store in a directory; `nil` if the store has no compaction.
    public var compact: (@Sendable (_ directory: String) throws -> Void)?
    /// Opens or creates the store in an existing directory of its own.
    public var open: @Sendable (_ directory: String) throws -> any LocalStore

    /// Creates a store; see the properties.
    public init(
        name: String? = nil, engine: String? = nil, engineVersion: String? = nil, settings: [String] = [],
        compact: (@Sendable (_ directory: String) throws -> Void)? = nil,
        open: @escaping @Sendable (_ directory: String) throws -> any LocalStore
    ) {
        self.name = name
        self.engine = engine
        self.engineVersion = engineVersion
        self.settings = settings
        self.compact = compact
        self.open = open
    }

    /// Returns the subject for this store. It opens the store once in a temporary directory to read its capabilities.
    public func makeSubject() throws -> BenchmarkSubject {
        let capabilities = try probe()
        let open = open
        return BenchmarkSubject(
            name: name ?? capabilities.name, kind: .store, engine: engine ?? capabilities.name,
            engineVersion: engineVersion, settings: settings, durability: capabilities.durability,
            isPersistent: capabilities.isPersistent, compact: compact
        ) { opening in
            try Self.makeSession(try open(opening.directory), opening, open)
        }
    }

    private func probe() throws -> StoreCapabilities {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tideline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try open(folder.path)
        let capabilities = store.capabilities
        try store.close()
        return capabilities
    }

    /// Opens the existential, so that the session knows the store's type.
    private static func makeSession<Store: LocalStore>(
        _ store: Store, _ opening: BenchmarkOpening, _ open: @escaping @Sendable (String) throws -> any LocalStore
    ) throws -> any BenchmarkSession {
        try StoreSession(store, table: opening.table) {
            guard let store = try open(opening.directory) as? Store else {
                throw WorkNotApplicable("the store has another type after it is opened again")
            }
            return store
        }
    }
}
#endif
