internal import Synchronization

/// What a check can time out waiting for.
package enum TimeOutKind: String, Sendable, Hashable, Codable {
    /// A call of the store on the check's own thread.
    case call
    /// Another thread of the check.
    case thread
    /// A second process.
    case process
}

/// A wait that ended without what it was for.
struct TimeOut: Error {
    var kind: TimeOutKind
    /// What is wrong, for the store's author.
    var message: String
    /// How long the check waited, and for how long because of which other check.
    var wait: CheckWait
}

/// How long a check waits.
struct CheckWait: Sendable, Hashable {
    var limit: Duration
    /// The check that timed out before; nil where none did, and the limit is the full one.
    var earlier: String?

    var seconds: Double { limit / .seconds(1) }
}

/// Which checks of one store timed out, so that those after them do not wait as long.
///
/// A store that never releases a lock hangs in most checks that come after. The first one of a kind waits for as long as
/// the settings say. Later ones end early, those of the same group earliest, and give no verdict then.
package final class TimeOuts: Sendable {
    /// The first check of each kind and group that timed out.
    package typealias Known = [TimeOutKind: [CheckGroup: String]]

    private let known = Mutex<Known>([:])

    /// A record, empty or of what is known from another process.
    package init(_ known: Known = [:]) { add(known) }

    /// All that is known.
    package var all: Known { known.withLock { $0 } }

    /// Adds what is known from another process.
    package func add(_ other: Known) {
        known.withLock { known in
            for (kind, groups) in other { known[kind, default: [:]].merge(groups) { first, _ in first } }
        }
    }

    /// Notes that a check failed because it timed out.
    package func note(_ result: CheckResult) {
        guard let kind = result.timeOut, result.status == .failed, let group = Check.named(result.id)?.group else {
            return
        }
        add([kind: [group: result.id]])
    }

    /// How long a check of a group waits, where none before it has timed out for as long as `limit`.
    func wait(_ kind: TimeOutKind, in group: CheckGroup, limit: Duration) -> CheckWait {
        let groups = known.withLock { $0[kind] ?? [:] }
        if let earlier = groups[group] {
            return CheckWait(limit: min(limit, max(limit / 60, .seconds(5))), earlier: earlier)
        }
        guard let earlier = groups.values.min() else { return CheckWait(limit: limit) }
        return CheckWait(limit: min(limit, max(limit / 20, .seconds(10))), earlier: earlier)
    }
}
