/// The part of a store that was lost when ``LevelDBStore`` repaired it.
public struct LevelDBRepair: Sendable, Hashable {
    /// The names of the tables and logs of which a part is unreadable. They are kept in the subfolder `lost`.
    public internal(set) var lostFiles: [String]
    /// How many rows each table lost, by its name. The numbers are those that the remaining files record, so they may
    /// be too small; a table whose definition was lost is not among them.
    public internal(set) var lostRows: [String: Int] = [:]
    /// The number of damaged rows, and of rows and index entries without a table, that were moved to
    /// `lost/entries.txt`.
    public internal(set) var removedEntries: Int
    /// The number of tokens of incremental pulls that were removed.
    public internal(set) var removedTokens = 0
    /// Whether the format record was missing or damaged.
    public internal(set) var isFormatRecordRebuilt: Bool
}
