public import Testing
public import TidelineStore
internal import TidelineTestSupport

/// A store of any kind with its temporary folder, so that one test body runs over all of them.
///
/// When the last reference is released, the store is closed and its folder is removed.
public final class TestStore: StoreLayer {
    public typealias Reader = AnyStore.Reader
    public typealias Writer = AnyStore.Writer

    public let base: AnyStore
    private let folder: TemporaryFolder?

    init(_ base: any LocalStore, in folder: TemporaryFolder?) {
        self.base = AnyStore(base)
        self.folder = folder
    }

    deinit { try? base.close() }
}

extension StoreKind {
    /// Makes an empty store. The files of a persistent store are in a temporary folder that is removed with it.
    public func makeStore() throws -> TestStore {
        let folder = isPersistent ? try TemporaryFolder() : nil
        return TestStore(try open(folder?.path ?? ""), in: folder)
    }

    /// Calls `body` with an empty store in which `tables` are defined, and closes the store.
    public func withStore<T>(_ tables: TableSchema..., body: (any LocalStore) throws -> T) throws -> T {
        let store = try makeStore()
        try store.define(tables)
        let result = try body(store.base.base)
        try store.close()
        return result
    }
}

/// The files of a store that is opened more than once. They are removed when the last reference to them, or to such a
/// store, is released.
public struct StoreFiles: Sendable {
    private let kind: StoreKind
    private let folder: TemporaryFolder

    /// The folder of the files.
    public var path: String { folder.path }

    /// Makes a temporary folder for a store of the given kind, which must be persistent.
    public init(_ kind: StoreKind) throws {
        precondition(kind.isPersistent, "a store without files is not opened twice")
        self.kind = kind
        folder = try TemporaryFolder()
    }

    /// Opens the store, and creates it if it does not exist.
    public func open() throws -> TestStore { TestStore(try kind.open(folder.path), in: folder) }
}

/// Expects that `body` throws a ``StoreError`` with the given code, and returns the error.
@discardableResult
public func expectError(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation, performing: body)
    let thrown = error.map(String.init(describing:)) ?? "nothing thrown"
    #expect(error?.code == code, "\(thrown)", sourceLocation: sourceLocation)
    return error
}
