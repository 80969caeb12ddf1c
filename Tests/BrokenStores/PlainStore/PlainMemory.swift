internal import Foundation
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
    private let counts = Mutex<[String: Int]>([:])

    init(_ flaw: Flaw) { self.flaw = flaw }

    func limitTime(_ limit: QueryTimeLimit) { self.limit.withLock { $0 = limit } }
    func checkTime() throws { try limit.withLock { $0 }?.check() }

    /// Returns the cached count of a query, or calls `count`.
    func count(_ query: TableQuery, _ count: () throws -> Int) rethrows -> Int {
        let text = String(reflecting: query)
        if let known = counts.withLock({ $0[text] }) { return known }
        let found = try count()
        counts.withLock { $0[text] = found }
        return found
    }

    /// Removes the counts that a commit of the store may have changed.
    func forgetCounts() { counts.withLock { $0 = [:] } }

    /// Returns the rows of a result that are in the cache.
    func recalled(_ query: TableQuery, _ found: [PlainSession.Match]) -> [PlainSession.Match] {
        if flaw == .countsKept { return found }
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

/// The clock by which a flawed store closes itself when it is idle. Tests let time pass on it.
package enum PlainClock {
    private static let passed = Mutex(Duration.zero)

    /// Lets time pass.
    package static func advance(by duration: Duration) { passed.withLock { $0 += duration } }

    static var now: Duration { passed.withLock { $0 } }
}
