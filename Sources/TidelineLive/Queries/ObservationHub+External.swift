internal import TidelineStore

// The commits of other processes, and of other stores over the same files.
extension ObservationHub {
    /// Returns whether all results include the external commits up to the given number.
    ///
    /// - Parameter number: A number of the store, or `nil` if nobody else commits.
    func includesExternalCommits(_ number: UInt64?) -> Bool {
        number == nil || externalCommit == number
    }

    /// Reads all live queries, because the store's own changes do not lead to their results.
    ///
    /// - Returns: The changes, or `nil` if the results include the external commits.
    func prepare(readingAgainAt number: UInt64?, in reader: some StoreReader) -> PendingCommit? {
        guard !includesExternalCommits(number) else { return nil }
        let pending = PendingCommit(self, changesRows: true)
        readAllAgain(at: number, in: reader, pending)
        return pending
    }

    func readAllAgain(at number: UInt64?, in reader: some StoreReader, _ pending: PendingCommit) {
        pending.changesRows = true
        pending.externalCommit = number
        for table in observedTables { readAgain(table, in: reader, pending) }
    }
}
