internal import Foundation
public import TidelineStore

/// A local store to be measured, as its author hands it over; only how it is opened is needed.
///
/// ```swift
/// BenchmarkStore { directory in try MyStore(directory: directory) }
/// ```
public struct BenchmarkStore: Sendable {
    /// The name in reports; by default the one that the store declares.
    public var name: String?
    /// The engine below, by which the store is held against a baseline; by default the name that the store declares.
    public var engine: String?
    /// The engine's version.
    public var engineVersion: String?
    /// The settings that it is opened with, as the report shows them, such as `durability=full`.
    public var settings: [String]
    /// Makes the files of the closed store in a folder as small as they get; nil where nothing is known to do it.
    public var compact: (@Sendable (_ directory: String) throws -> Void)?
    /// Opens the store in a folder, which exists and is the store's alone, or makes an empty one there.
    public var open: @Sendable (_ directory: String) throws -> any LocalStore

    /// A store; see the properties.
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

    /// The subject that it is. What the store tells of itself it is asked in a folder that is removed again, for which it is
    /// opened once.
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

    /// The session of a store whose type is known from here on.
    private static func makeSession<Store: LocalStore>(
        _ store: Store, _ opening: BenchmarkOpening, _ open: @escaping @Sendable (String) throws -> any LocalStore
    ) throws -> any BenchmarkSession {
        try StoreSession(store, table: opening.table) {
            guard let store = try open(opening.directory) as? Store else {
                throw WorkNotApplicable("another kind of store was opened than before")
            }
            return store
        }
    }
}
