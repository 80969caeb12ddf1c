import Foundation
import HTTPTypes
import Tideline
import TidelineServer
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

#if os(macOS) || os(Linux)
/// A running `SyncProbe`, which exchanges lines with the test.
class RunningProbe {
    let process = Process()
    private let input = Pipe.uninherited()
    private let output = Pipe.uninherited()
    private(set) lazy var lines = ProcessLines(of: process, output)

    init(_ command: String, _ kind: StoreKind, _ folder: String, _ numbers: Int...) throws {
        let programs = Bundle.main.executableURL?.deletingLastPathComponent()
        // A probe of another build configuration, such as release, which is faster with many rows.
        let path = ProcessInfo.processInfo.environment["TIDELINE_SYNC_PROBE"]
        process.executableURL =
            path.map { URL(fileURLWithPath: $0) } ?? programs?.appendingPathComponent("SyncProbe")
        process.arguments = [command, kind.engine ?? "", folder] + numbers.map(String.init)
        // This process keeps the read end open too: writing to a pipe without a reader raises SIGPIPE.
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
    }

    deinit {
        resume()
        if process.isRunning { signal(SIGKILL) }
    }

    func write(line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Kills the process and waits until it has ended.
    func kill() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    func suspend() { signal(SIGSTOP) }
    func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) { sendSignal(process.processIdentifier, number) }
}

/// A failure of the probe process.
struct ProbeError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

private func sendSignal(_ process: pid_t, _ signal: Int32) { _ = kill(process, signal) }

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

/// A running `SyncProbe push`, whose requests the test passes on.
final class PushingProcess: RunningProbe {
    /// - Parameter lease: The duration of its lease in seconds.
    init(_ kind: StoreKind, _ folder: String, lease: Int) throws { try super.init("push", kind, folder, lease) }

    /// Returns the next request.
    func nextRequest() throws -> RelayedRequest {
        guard let line = lines.next() else { throw ProbeError("the process has ended") }
        guard line.hasPrefix("{") else { throw ProbeError("the process ended with: \(line)") }
        return try RelayedRequest(relayedLine: line)
    }

    /// Passes a response to the process.
    func respond(_ response: RelayedResponse) throws {
        try write(line: response.relayedLine)
    }

    /// Waits until the process has ended, and returns its last line.
    func finish() throws -> String? {
        let line = lines.next()
        try process.finish()
        return line
    }
}

extension TableService {
    /// Executes a request of a process.
    func handle(_ relayed: RelayedRequest) -> RelayedResponse {
        var request = HTTPRequest(
            method: .init(relayed.method) ?? .get, scheme: "http", authority: "server.test", path: relayed.path)
        for field in relayed.headers {
            if let name = HTTPField.Name(field[0]) {
                request.headerFields.append(HTTPField(name: name, value: field[1]))
            }
        }
        let answer = handle(request, body: relayed.body)
        return RelayedResponse(
            status: answer.response.status.code,
            headers: answer.response.headerFields.map { [$0.name.rawName, $0.value] }, body: answer.body)
    }
}
#endif
