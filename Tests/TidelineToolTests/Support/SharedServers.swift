#if Tool
import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineStore

@testable import TidelineTool

/// Processes of `tideline serve` over one store. As a transport, it sends each request to one of them at random, as a
/// load balancer does.
final class SharedServers: Transport {
    let location: String
    private let tool: Tool
    private let authorities = Mutex<[String]>([])
    private let transport: AsyncHTTPClientTransport
    /// Accessed by one task at a time: the test, and during a round the task that kills servers.
    private nonisolated(unsafe) var processes: [ToolProcess] = []

    /// Starts servers over the store at a location.
    init(_ tool: Tool, location: String, count: Int) throws {
        self.tool = tool
        self.location = location
        var options = AsyncHTTPClientTransport.Options()
        options.maximumConnectionsPerHost = 32
        transport = AsyncHTTPClientTransport(options: options)
        try EditingClient.schemaFile.write(toFile: tool.path("shared.yaml"), atomically: true, encoding: .utf8)
        for number in 0..<count { try start(number) }
    }

    /// Starts a server, in the place of the one with this number if there is one.
    private func start(_ number: Int) throws {
        let process = try tool.start([
            "serve", "--port", "\(FreePort.next())", "--query-timeout", "300", "--store", location, "--schema",
            tool.path("shared.yaml"),
        ])
        guard let url = process.readLine()?.split(separator: " ").last else {
            process.stop()
            throw ToolError("the server does not start: \(process.errors())")
        }
        let authority = String(url.dropFirst("http://".count))
        if number < processes.count { processes[number] = process } else { processes.append(process) }
        authorities.withLock { authorities in
            if number < authorities.count { authorities[number] = authority } else { authorities.append(authority) }
        }
    }

    /// Kills a server at random, and starts another one in its place.
    func killOne() throws {
        let number = Int.random(in: processes.indices)
        _ = processes[number].killNow()
        try start(number)
    }

    func stop() { for process in processes { process.stop() } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        var request = request
        request.authority = authorities.withLock { $0.randomElement() }
        return try await transport.send(request, body: body, timeout: timeout)
    }

    /// Returns all rows of the store, deleted ones included, as another program finds them.
    func rows() async throws -> [Row] {
        try await withStore(StoreLocation(parsing: location)) { store in
            try store.read { try $0.rows(matching: TableQuery(EditingClient.table)).rows }
        }
    }
}
#endif
