internal import Synchronization

/// The kinds of waits that can time out.
package enum TimeOutKind: String, Sendable, Hashable, Codable {
    /// A call of the store on the check's own thread.
    case call
    /// Another thread of the check.
    case thread
    /// A second process.
    case process
}

/// A wait that timed out.
struct TimeOut: Error {
    var kind: TimeOutKind
    /// The problem, described for the store's author.
    var message: String
    /// The time that the check waited, and the earlier check that shortened the wait.
    var wait: CheckWait
}

/// The length of time that a check waits.
struct CheckWait: Sendable, Hashable {
    var limit: Duration
    /// The check that timed out before, or `nil` if none did and the full limit applies.
    var earlier: String?

    var seconds: Double { limit / .seconds(1) }
}

/// The checks of one store that timed out, recorded so that later checks wait for less time.
///
/// A store that never releases a lock hangs in most of the checks that follow. The first check of a kind waits for the
/// full time limit. Later ones end early, those of the same group earliest, and then give no verdict.
package final class TimeOuts: Sendable {
    /// The first check of each kind and group that timed out.
    package typealias Known = [TimeOutKind: [CheckGroup: String]]

    private let known = Mutex<Known>([:])

    /// Creates a record, empty or with the timeouts known from another process.
    package init(_ known: Known = [:]) { add(known) }

    /// All known timeouts.
    package var all: Known { known.withLock { $0 } }

    /// Adds the timeouts known from another process.
    package func add(_ other: Known) {
        known.withLock { known in
            for (kind, groups) in other { known[kind, default: [:]].merge(groups) { first, _ in first } }
        }
    }

    /// Records a check that failed because it timed out. After a known failure, others need verdicts of their own.
    package func note(_ result: CheckResult) {
        guard let kind = result.timeOut, result.status == .failed, let group = Check.named(result.id)?.group else {
            return
        }
        add([kind: [group: result.id]])
    }

    /// Returns how long a check of a group waits; `limit` if no check has timed out before.
    func wait(_ kind: TimeOutKind, in group: CheckGroup, limit: Duration) -> CheckWait {
        let groups = known.withLock { $0[kind] ?? [:] }
        if let earlier = groups[group] {
            return CheckWait(limit: min(limit, max(limit / 60, .seconds(5))), earlier: earlier)
        }
        guard let earlier = groups.values.min() else { return CheckWait(limit: limit) }
        return CheckWait(limit: min(limit, max(limit / 20, .seconds(10))), earlier: earlier)
    }
}
