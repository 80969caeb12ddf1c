#if Tool
import Foundation
import HTTPTypes
import Testing
import Tideline

@testable import TidelineTool

/// `tideline serve` run as a process.
@Suite("The command serve", .timeLimit(.minutes(5)))
struct ServeCommandTests {
    @Test("A server that cannot listen creates no file")
    func portTaken() throws {
        let tool = try Tool()
        let (_, url) = try tool.startServer()
        let port = try #require(url.split(separator: ":").last)
        let output = try tool.run("serve", "--port", String(port), "--store", "sqlite:\(tool.path("second.db"))")
        #expect(output.status == 1)
        #expect(output.err.contains("cannot listen on 127.0.0.1 port \(port)"))
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.folder.path)
        #expect(!files.contains { $0.hasPrefix("second") }, "\(files)")
    }

    @Test(
        "With --schema, requests create tables and columns only if that is enabled",
        arguments: [([], false), (["--create-tables"], true), (["--no-create-tables"], false)] as [([String], Bool)])
    func fixedSchema(flags: [String], makesTables: Bool) async throws {
        let tool = try Tool()
        try "tables: { Fixed: { columns: { a: string } } }"
            .write(toFile: tool.path("schema.yaml"), atomically: true, encoding: .utf8)
        let (_, url) = try tool.startServer(["--schema", tool.path("schema.yaml")] + flags)
        let authority = String(url.dropFirst("http://".count))
        for (path, row) in [("Fixed", #"{"id":"1","b":1}"#), ("Other", #"{"id":"1"}"#)] {
            let status = try await send(.post, "/tables/\(path)", to: authority, body: Array(row.utf8)).response.status
            #expect((status == .created) == makesTables, "\(path): \(status)")
        }
        let known = try await send(.post, "/tables/Fixed", to: authority, body: Array(#"{"id":"2","a":"x"}"#.utf8))
        #expect(known.response.status == .created)
    }
}
#endif
