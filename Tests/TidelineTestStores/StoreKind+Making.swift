public import TidelineStore
internal import TidelineTestSupport

extension StoreKind {
    /// An empty store, in a folder of its own that goes with it where the kind has files.
    public func makeStore() throws -> AnyStore {
        let folder = isPersistent ? try TemporaryFolder() : nil
        return AnyStore(try open(folder?.path ?? ""), in: folder)
    }

    /// Calls `body` with an empty store, in which `tables` are defined, and closes it.
    public func withStore<T>(_ tables: TableSchema..., body: (any LocalStore) throws -> T) throws -> T {
        let store = try makeStore()
        try store.define(tables)
        let result = try body(store.base)
        try store.close()
        return result
    }
}

/// The files of a store that is opened more than once; removed with the last reference, to them or to such a store.
public struct StoreFiles: Sendable {
    private let kind: StoreKind
    private let folder: TemporaryFolder

    /// The place for a store of a kind, which must be persistent.
    public init(_ kind: StoreKind) throws {
        precondition(kind.isPersistent, "a store without files is not opened twice")
        self.kind = kind
        folder = try TemporaryFolder()
    }

    /// Opens the store, or makes it the first time.
    public func open() throws -> AnyStore { AnyStore(try kind.open(folder.path), in: folder) }
}
