import HTTPTypes
import Tideline
import TidelineMemory
import TidelineStore
import TidelineTestSupport

/// Work that is repeated often, to see how much memory it takes: `SyncProbe grow push|deadlines <count>`.
///
/// It prints `grew <kB of memory>`, the growth during the work.
enum GrowingClient {
    static func main(_ words: [String]) async throws {
        guard words.count == 2, let count = Int(words[1]) else { SyncProbe.usage() }
        switch words[0] {
        case "push": try await push(count)
        case "deadlines": try await repeatedly(count) { try await withDeadline(.seconds(60)) { _ in } }
        default: SyncProbe.usage()
        }
    }

    private static func push(_ count: Int) async throws {
        let store = try MemoryStore()
        let client = try SyncClient(url: "http://server.test", store: store, transport: EchoingServer())
        try await client.define([NumberedRow.schema])
        for number in 0..<count {
            try await client.table(NumberedRow.schema.name).insert(["text": .string("\(number)")])
        }
        try await repeatedly(1) {
            let sent = try await client.push().progress.sent
            guard sent == count else { throw StoreError(.io, "\(sent) of \(count) operations were sent") }
        }
        try store.close()
    }

    private static func repeatedly(_ count: Int, _ work: () async throws -> Void) async throws {
        let memory = HighestMemory()
        memory.look()
        let before = memory.kilobytes
        for _ in 0..<count { try await work() }
        memory.look()
        SyncProbe.say("grew \(memory.kilobytes - before)")
    }
}

/// A server that accepts each row that is inserted.
private struct EchoingServer: Transport {
    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        // Like a response over a network, it does not arrive at once.
        await Task.yield()
        return TransportResponse(response: HTTPResponse(status: .created), body: body ?? [])
    }
}
