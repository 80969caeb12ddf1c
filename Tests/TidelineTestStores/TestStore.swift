public import TidelineStore
internal import TidelineTestSupport

/// A store of any kind with its temporary folder, so that one test body runs over all of them.
///
/// When the last reference is released, the store is closed and its folder is removed.
public final class TestStore: LocalStore {
    private let store: AnyStore
    private let folder: TemporaryFolder?

    /// The store itself.
    public var base: any LocalStore { store.base }

    init(_ base: any LocalStore, in folder: TemporaryFolder?) {
        store = AnyStore(base)
        self.folder = folder
    }

    deinit { try? store.close() }

    public var capabilities: StoreCapabilities { store.capabilities }
    public func define(_ tables: [TableSchema]) throws { try store.define(tables) }
    public func redefine(_ body: (AnyWriter) throws -> [TableSchema]) throws { try store.redefine(body) }
    public func tables() throws -> [TableSchema] { try store.tables() }
    public func externalCommitNumber() throws -> UInt64? { try store.externalCommitNumber() }
    public var commitSignalPath: String? { store.commitSignalPath }
    public func close() throws { try store.close() }
    public func read<T>(_ body: (AnyReader) throws -> T) throws -> T { try store.read(body) }
    public func write<T>(_ body: (AnyWriter) throws -> T) throws -> T { try store.write(body) }
}
