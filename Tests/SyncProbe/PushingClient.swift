import Foundation
import HTTPTypes
import Tideline
import TidelineLMDB
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

/// A client that pushes the queue of a store and may be killed or suspended at any time: `SyncProbe push <engine>
/// <folder> <seconds of its lease>`.
///
/// It prints each request as a ``RelayedRequest`` and reads the ``RelayedResponse`` from its input. At its end it
/// prints `sent <number of operations>`, or `failed <code>`.
enum PushingClient {
    static func main(_ words: [String]) async throws {
        guard words.count == 3, let seconds = Int(words[2]) else { SyncProbe.usage() }
        let path = "\(words[1])/store"
        switch words[0] {
        case "sqlite": try await push(SQLiteStore(path: path), lease: seconds)
        case "lmdb": try await push(LMDBStore(path: path), lease: seconds)
        default: SyncProbe.usage()
        }
    }

    private static func push(_ store: some LocalStore, lease seconds: Int) async throws {
        var options = SyncOptions()
        options.pushLeaseDuration = .seconds(seconds)
        let client = try SyncClient(url: "http://server.test", store: store, transport: Relay(), options: options)
        do {
            SyncProbe.say("sent \(try await client.push(settings: PushSettings(maxInFlight: 1)).progress.sent)")
        } catch let error as SyncError {
            SyncProbe.say("failed \(error.code)")
        }
        try store.close()
    }
}

/// A transport that lets the parent process send the requests, one at a time.
private struct Relay: Transport {
    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let headers = request.headerFields.map { [$0.name.rawName, $0.value] }
        let relayed = RelayedRequest(
            method: request.method.rawValue, path: request.path ?? "", headers: headers, body: body ?? [])
        SyncProbe.say(try relayed.relayedLine)
        // The read blocks its thread, not one of the pool's, on which the lease is renewed.
        let line: String? = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
        guard let line else { throw TransportError(.connection, "the parent process has ended") }
        let response = try RelayedResponse(relayedLine: line)
        var fields = HTTPFields()
        for field in response.headers {
            if let name = HTTPField.Name(field[0]) { fields.append(HTTPField(name: name, value: field[1])) }
        }
        return TransportResponse(
            response: HTTPResponse(status: .init(code: response.status), headerFields: fields), body: response.body)
    }
}
