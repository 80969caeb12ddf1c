import Foundation

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
