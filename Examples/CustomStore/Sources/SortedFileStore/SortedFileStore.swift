public import TidelineKeyValue

/// A local store over a ``SortedFileEngine``: what an app picks when it makes its client.
public typealias SortedFileStore = KeyValueStore<SortedFileEngine>

extension KeyValueStore where Engine == SortedFileEngine {
    /// Opens the store in a folder, which is made if it does not exist.
    public convenience init(path: String) throws { try self.init(engine: SortedFileEngine(path: path)) }
}
