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
