import Foundation
import HTTPTypes
import Tideline
import TidelineServer
import TidelineTestStores
import TidelineTestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

#if os(macOS) || os(Linux)
/// A running `SyncProbe push`, whose requests the test passes on.
final class PushingProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private lazy var lines = ProcessLines(of: process, output)

    /// - Parameter lease: The duration of its lease in seconds.
    init(_ kind: StoreKind, _ folder: String, lease: Int) throws {
        let programs = Bundle.main.executableURL?.deletingLastPathComponent()
        process.executableURL = programs?.appendingPathComponent("SyncProbe")
        process.arguments = ["push", kind.engine ?? "", folder, "\(lease)"]
        // This process keeps the read end open too: writing to a pipe without a reader raises SIGPIPE.
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
    }

    deinit {
        signal(SIGCONT)
        if process.isRunning { signal(SIGKILL) }
    }

    /// Returns the next request.
    func nextRequest() throws -> RelayedRequest {
        guard let line = lines.next() else { throw Failure(reason: "the process has ended") }
        guard line.hasPrefix("{") else { throw Failure(reason: "the process ended with: \(line)") }
        return try RelayedRequest(relayedLine: line)
    }

    /// Passes a response to the process.
    func respond(_ response: RelayedResponse) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((response.relayedLine + "\n").utf8))
    }

    /// Kills the process and waits until it has ended.
    func kill() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    func suspend() { signal(SIGSTOP) }
    func resume() { signal(SIGCONT) }

    /// Waits until the process has ended, and returns its last line.
    func finish() throws -> String? {
        let line = lines.next()
        try process.finish()
        return line
    }

    struct Failure: Error { var reason: String }

    private func signal(_ number: Int32) { sendSignal(process.processIdentifier, number) }
}

private func sendSignal(_ process: pid_t, _ signal: Int32) { _ = kill(process, signal) }

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
