#if AsyncHTTPClient
public import Tideline

extension SyncClient {
    /// Creates a client for the server at `url` with the local store `store` and the shared transport of the process.
    ///
    /// - Parameters:
    ///   - url: The address of the server, `http` or `https`, to which `/tables/…` is appended.
    ///   - store: The local store. The caller closes it, after the last call to this client has ended.
    ///   - options: See `SyncOptions`.
    /// - Throws: `SyncError` with code `invalidArgument` for an invalid address; `StoreError`.
    public convenience init(url: String, store: Store, options: SyncOptions = SyncOptions()) throws {
        try self.init(url: url, store: store, transport: AsyncHTTPClientTransport.shared, options: options)
    }
}
#else
public import Tideline

extension SyncClient {
    /// Not available without the package trait `AsyncHTTPClient`.
    @available(*, unavailable, message: "add `traits: [\"AsyncHTTPClient\"]` to the package dependency on Tideline")
    public convenience init(url: String, store: Store, options: SyncOptions = SyncOptions()) throws {
        fatalError("unavailable")
    }
}
#endif
