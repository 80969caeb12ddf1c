public import Tideline

extension SyncClient {
    /// A client of the server at `url`, over `store`, with the transport that the process shares.
    ///
    /// - Parameters:
    ///   - url: The address of the server, `http` or `https`, to which `/tables/…` is added.
    ///   - store: The local store. The caller closes it, after the last call to this client has ended.
    ///   - options: See `SyncOptions`.
    /// - Throws: `SyncError` with code invalidArgument for an address that is none; `StoreError`.
    public convenience init(url: String, store: Store, options: SyncOptions = SyncOptions()) throws {
        try self.init(url: url, store: store, transport: AsyncHTTPClientTransport.shared, options: options)
    }
}
