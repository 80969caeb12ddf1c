#if Tool
import HTTPTypes
import Testing
import Tideline
import TidelineSQLite
import TidelineServer

@testable import TidelineTool

/// The checks of servers run over a socket, too; see `ServerConformanceCommandTests`.
@Suite("Table server on a socket")
struct TableServerTests {
    @Test("A body over the limit is refused with 413, and the next request is served")
    func bodyLimit() async throws {
        try await serving(limits: ServerLimits(maximumBodySize: 1_000)) { authority in
            let large = Array(#"{"text":""#.utf8) + [UInt8](repeating: 0x61, count: 1_000) + Array(#""}"#.utf8)
            let refused = try await send(.post, "/tables/TodoItem", to: authority, body: large)
            #expect(refused.response.status == .contentTooLarge)
            let small = try await send(.post, "/tables/TodoItem", to: authority, body: #"{"text":"a"}"#)
            #expect(small.response.status == .created)
        }
    }

    @Test("Concurrent requests are all answered")
    func concurrentRequests() async throws {
        try await serving { authority in
            try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                for number in 0..<50 {
                    let row = Array(#"{"id":"\#(number)","number":\#(number)}"#.utf8)
                    group.addTask { try await send(.post, "/tables/T", to: authority, body: row).response.status }
                }
                for try await status in group { #expect(status == .created) }
            }
            let page = try await send(.get, "/tables/T?$top=1&$inlinecount=allpages", to: authority)
            #expect(String(decoding: page.body, as: UTF8.self).contains(#""count":50"#))
        }
    }

    @Test("An address of another machine is an error with the address")
    func unknownHost() async throws {
        // The name is too long for DNS, so that no lookup is made: a lookup without an answer takes many seconds.
        let host = String(repeating: "a", count: 64) + ".invalid"
        let service = try TableService(store: SQLiteStore.inMemory())
        let error = try await #require(
            #expect(throws: ToolError.self) { try await makeServer(host: host).run(service) { _ in } })
        #expect(error.message.hasPrefix("cannot listen on \(host) port 0: "))
    }
}
#endif
