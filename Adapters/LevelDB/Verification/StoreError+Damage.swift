internal import TidelineStore

extension StoreError {
    /// Creates the error for files that LevelDB did not leave in this state.
    static func damaged(_ path: String, _ what: String) -> StoreError {
        StoreError(
            .corrupt, "\(what); restore a backup of the folder, or call LevelDBStore.repair(path:options:)",
            path: path)
    }
}
