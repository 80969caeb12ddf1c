import HTTPTypes
import Tideline
import TidelineServer
import TidelineTestStores
import TidelineTestSupport

#if os(macOS) || os(Linux)
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
