import Foundation
import Synchronization

/// The peak of the process's private memory. Pages of mapped files are not counted, because the system reclaims them as
/// needed. It is only available on Linux.
final class HighestMemory: Sendable {
    private let highest = Mutex(0)

    /// The peak in kB.
    var kilobytes: Int { highest.withLock { $0 } }

    /// Updates the peak with the current memory.
    func look() {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let now = status.firstMatch(of: /RssAnon:\s+(\d+)/).flatMap({ Int($0.1) })
        else { return }
        highest.withLock { $0 = max($0, now) }
    }
}
