internal import Synchronization
internal import TidelineStore

/// The cached results of queries in a flawed store, or a time limit that outlives its reader.
final class PlainMemory: Sendable {
    private struct Entry {
        var times = 0
        /// The ids that the query found when it was run for the sixteenth time.
        var ids: Set<RowID>?
    }

    private let flaw: Flaw
    /// By the text of the query.
    private let entries = Mutex<[String: Entry]>([:])

    private let limit = Mutex<QueryTimeLimit?>(nil)

    init(_ flaw: Flaw) { self.flaw = flaw }

    func limitTime(_ limit: QueryTimeLimit) { self.limit.withLock { $0 = limit } }
    func checkTime() throws { try limit.withLock { $0 }?.check() }

    /// Returns the rows of a result that are in the cache.
    func recalled(_ query: Query, _ found: [PlainSession.Match]) -> [PlainSession.Match] {
        let ids = Set(found.map(\.row.id))
        let query = String(reflecting: query)
        let kept = entries.withLock { entries in
            entries[query, default: Entry()].times += 1
            if flaw == .repeatedAnswersKept, entries[query]?.times == 16 { entries[query]?.ids = ids }
            return entries[query]?.ids
        }
        guard let kept else { return found }
        return found.filter { kept.contains($0.row.id) }
    }
}
