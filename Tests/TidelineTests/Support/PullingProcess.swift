import Foundation
import TidelineTestStores
import TidelineTestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

#if os(macOS) || os(Linux)
/// A running `SyncProbe pull` that waits for a signal before each page it requests.
final class PullingProcess {
    /// The numbers of the first rows of the requested pages.
    private(set) var asked: [Int] = []
    /// The greatest memory use that the process reported, in kB.
    private(set) var memory = 0
    /// The maximum number of pages that are not stored: those of a transaction, and one in flight.
    static let pagesHeld = 5

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private lazy var lines = ProcessLines(of: process, output)

    init(_ kind: StoreKind, _ folder: String, rows: Int, pageSize: Int) throws {
        let programs = Bundle.main.executableURL?.deletingLastPathComponent()
        // A probe of another build configuration, such as release, which is faster with many rows.
        let path = ProcessInfo.processInfo.environment["TIDELINE_SYNC_PROBE"]
        process.executableURL =
            path.map { URL(fileURLWithPath: $0) } ?? programs?.appendingPathComponent("SyncProbe")
        process.arguments = ["pull", kind.engine ?? "", folder, "\(rows)", "\(pageSize)"]
        // This process keeps the read end open too: writing to a pipe without a reader raises SIGPIPE.
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
    }

    deinit { if process.isRunning { sendSignal(process.processIdentifier, SIGKILL) } }

    /// Kills the process shortly after it requests a page that starts at the given row or later.
    func kill(whenAskedFor row: Int) throws {
        while let first = try nextRequest() {
            proceed()
            if first >= row { break }
        }
        // The time of the kill is random; the test does not wait for an event.
        Thread.sleep(forTimeInterval: .random(in: 0...0.02))
        sendSignal(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else {
            throw PullingError("it ended before it was killed")
        }
    }

    /// Lets the process run until it exits.
    func finish() throws -> PullingProcess {
        while try nextRequest() != nil { proceed() }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw PullingError("it failed") }
        return self
    }

    private func proceed() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

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

/// A failure of the probe process.
struct PullingError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

private func sendSignal(_ process: pid_t, _ signal: Int32) { _ = kill(process, signal) }
#endif
