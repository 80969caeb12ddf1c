import Foundation
import Synchronization

/// A second process that syncs a store: ``PullingClient``, ``PushingClient`` and ``GrowingClient``.
@main
enum SyncProbe {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        switch words.first {
        case "pull": try await PullingClient.main(Array(words.dropFirst()))
        case "push": try await PushingClient.main(Array(words.dropFirst()))
        case "grow": try await GrowingClient.main(Array(words.dropFirst()))
        default: usage()
        }
    }

    /// Prints a line immediately.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    static func usage() -> Never {
        let text = """
            usage: SyncProbe pull sqlite|lmdb|leveldb FOLDER ROWS PAGESIZE | push sqlite|lmdb FOLDER SECONDS
                   | grow push|deadlines COUNT

            """
        FileHandle.standardError.write(Data(text.utf8))
        exit(64)
    }
}

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
