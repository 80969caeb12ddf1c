internal import Synchronization
internal import TidelineStore

/// The memory that a flawed store keeps of each query.
final class PlainMemory: Sendable {
    private struct Entry {
        var times = 0
        /// The ids found when it was asked for the sixteenth time.
        var ids: Set<RowID>?
    }

    private let flaw: Flaw
    private let entries = Mutex<[Query: Entry]>([:])

    init(_ flaw: Flaw) { self.flaw = flaw }

    /// The rows of an answer that the store remembers.
    func recalled(_ query: Query, _ found: [PlainSession.Match]) -> [PlainSession.Match] {
        let ids = Set(found.map(\.row.id))
        let kept = entries.withLock { entries in
            entries[query, default: Entry()].times += 1
            if flaw == .repeatedAnswersKept, entries[query]?.times == 16 { entries[query]?.ids = ids }
            return entries[query]?.ids
        }
        guard let kept else { return found }
        return found.filter { kept.contains($0.row.id) }
    }
}
