#if Tool
import Foundation
import Testing
import TidelineConformance

@testable import TidelineTool

@Suite("tideline conformance --server")
struct ServerConformanceCommandTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func `tideline serve passes over a socket, in both dialects`() throws {
        let server = try tool.startServer()
        try tool.run(
            "conformance", "--server", server.url, "--dialect", "zumo2", "--dialect", "datasync3", "--rows", "130",
            "--json", tool.path("report.json"), "--html", tool.path("report.html")
        ).expect(0, "No failures")
        let report = try ConformanceReport(json: Data(contentsOf: URL(fileURLWithPath: tool.path("report.json"))))
        #expect(report.settings.server == server.url)
        #expect(report.stores.map(\.name) == ["zumo2", "datasync3"])
        for dialect in report.stores {
            #expect(dialect.totals.passed + dialect.totals.skipped == report.checks.count, "\(dialect.totals)")
            #expect(dialect.totals.skipped <= 4, "\(dialect.totals)")
        }
    }

    @Test func `a server like the original one has tolerated deviations, and status 0; with hard deletes, status 1`()
        throws
    {
        let original = try tool.startServer("--quirk", "original")
        try tool.run("conformance", "--server", original.url, "--filter", "SRV-4")
            .expect(0, "tolerated  zumo2  SRV-404", "deleted rows, which the server keeps")
        let strict = try tool.run("conformance", "--server", original.url, "--filter", "SRV-404", "--strict")
        #expect(strict.status == 1, "\(strict)")
        let otherDialect = try tool.run("conformance", "--server", original.url, "--filter", "SRV-406", "--strict")
        #expect(otherDialect.status == 0, "\(otherDialect)")
        let hard = try tool.run("conformance", "--server", original.url, "--filter", "SRV-503")
        #expect(hard.status == 0, "\(hard)")
        let (_, url) = try tool.startServer("--store", "memory", "--quirk", "hard-delete")
        let failed = try tool.run(
            "conformance", "--server", url, "--filter", "SRV-503", "--quiet", "--allow-rows", "--rows", "60")
        #expect(failed.status == 1)
        let command = "repeat: tideline conformance --server \(url) --dialect zumo2 --filter SRV-503 --seed 1"
        #expect(failed.out.contains("\(command) --allow-rows --rows 60"))
    }

    @Test func `a server that is not there exits with status 1 and the address`() throws {
        try tool.run("conformance", "--server", "http://127.0.0.1:1").expect(1, "http://127.0.0.1:1 cannot be checked")
    }

    @Test func `checks of servers are listed with --server, and explained with or without it`() throws {
        let list = try tool.run("conformance", "--server", "http://127.0.0.1:1", "--list", "--filter", "serverDeletes")
        #expect(list.status == 0 && list.out.contains("SRV-501") && !list.out.contains("SRV-401"))
        let explanation = try tool.run("conformance", "--explain", "srv-508")
        #expect(explanation.out.hasPrefix("SRV-508  A deleted row is found by its id"))
        #expect(explanation.out.contains("On another server: The client then finds it by a list"))
    }
}
#endif
