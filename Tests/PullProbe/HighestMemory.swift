import Foundation
import Synchronization

/// The most memory of its own that the process was seen to have. Pages of files that are mapped are not counted: they are
/// the system's, which takes them back when it likes. Only Linux can tell.
final class HighestMemory: Sendable {
    private let highest = Mutex(0)

    /// The most so far, in kB.
    var kilobytes: Int { highest.withLock { $0 } }

    /// Takes what it has now into account.
    func look() {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let now = status.firstMatch(of: /RssAnon:\s+(\d+)/).flatMap({ Int($0.1) })
        else { return }
        highest.withLock { $0 = max($0, now) }
    }
}
