import Foundation
import TidelineTestStores

#if os(macOS) || os(Linux)
/// A running `SyncProbe pull` that waits for a signal before each page it requests.
final class PullingProcess: RunningProbe {
    /// The numbers of the first rows of the requested pages.
    private(set) var asked: [Int] = []
    /// The greatest memory use that the process reported, in kB.
    private(set) var memory = 0
    /// The maximum number of pages that are not stored: those of a transaction, and one in flight.
    static let pagesHeld = 5

    init(_ kind: StoreKind, _ folder: String, rows: Int, pageSize: Int) throws {
        try super.init("pull", kind, folder, rows, pageSize)
    }

    /// Kills the process shortly after it requests a page that starts at the given row or later.
    func kill(whenAskedFor row: Int) throws {
        while let first = try nextRequest() {
            proceed()
            if first >= row { break }
        }
        // The time of the kill is random; the test does not wait for an event.
        Thread.sleep(forTimeInterval: .random(in: 0...0.02))
        kill()
        guard process.terminationReason == .uncaughtSignal else {
            throw ProbeError("it ended before it was killed")
        }
    }

    /// Lets the process run until it exits.
    func finish() throws -> PullingProcess {
        while try nextRequest() != nil { proceed() }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ProbeError("it failed") }
        return self
    }

    private func proceed() { try? write(line: "") }

    /// Returns the first row of the next requested page, or `nil` if the process requests no more.
    private func nextRequest() throws -> Int? {
        guard let words = lines.next()?.split(separator: " "), words.count == 3, let number = Int(words[1]),
            let memory = Int(words[2])
        else { return nil }
        self.memory = max(self.memory, memory)
        guard words[0] == "asked" else { return nil }
        asked.append(number)
        return number
    }
}
#endif
