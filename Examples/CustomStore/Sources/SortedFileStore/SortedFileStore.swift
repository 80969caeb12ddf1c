public import TidelineKeyValue

/// A local store over a ``SortedFileEngine``. An app passes it to its sync client.
public typealias SortedFileStore = KeyValueStore<SortedFileEngine>

extension KeyValueStore where Engine == SortedFileEngine {
    /// Opens the store in a folder, and creates the folder if it does not exist.
    public convenience init(path: String) throws { try self.init(engine: SortedFileEngine(path: path)) }
}
