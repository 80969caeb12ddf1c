#if Tool
import ArgumentParser
import Foundation
import Testing
import TidelineConformance
import TidelineStore

@testable import TidelineTool

@Suite("tideline conformance")
struct ConformanceCommandTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test("Every engine passes a check of each kind: on rows, on files, with a second process")
    func engines() throws {
        try tool.run(
            "conformance", "--filter", "UPS-001", "--filter", "LIF-001", "--filter", "DUR-001", "--quiet", "--json",
            tool.path("report.json")
        ).expect(0)
        let report = try ConformanceReport(json: Data(contentsOf: URL(fileURLWithPath: tool.path("report.json"))))
        #expect(report.stores.map(\.name) == StoreEngine.all.map(\.name))
        for store in report.stores {
            #expect(store.totals.passed > 0)
            #expect(store.results.allSatisfy { $0.status == .passed || $0.status == .skipped }, "\(store)")
            if store.name != "memory" { #expect(store.capabilities?.durability == .full, "\(store.name)") }
        }
    }

    @Test("The settings after a store's name apply to it and are part of its name")
    func settings() throws {
        let output = try tool.run(
            "conformance", "--store", "lmdb,durability=normal,sqlite", "--filter", "UPS-001", "--json", "-"
        ).expect(0)
        let report = try ConformanceReport(json: Data(output.out.utf8))
        #expect(report.stores.map(\.name) == ["lmdb,durability=normal", "sqlite"])
        #expect(report.stores.map { $0.capabilities?.durability } == [.normal, .full])
    }

    @Test(
        "An invalid command line exits with status 2 and the reason",
        arguments: [
            (["--store", "sqlit"], "Did you mean \"sqlite\"?"), (["--nonsense"], "--nonsense"),
            (["--store", "lmdb,size=1"], "no setting \"size\""), (["--store", "memory,size=1"], "no settings"),
            (["--store", "sqlite-memory,size=1"], "the store sqlite-memory has no settings"),
            (["--store", "sqlite,durability=some"], "full or normal"),
            (["--store", "sqlite,read-only=yes"], "read-only"),
            (["--filter", "XYZ-000"], "no check matches"),
            (["--server", "nowhere"], "\"nowhere\" is not a valid server address"),
            (["--server", "http://127.0.0.1:1", "--dialect", "zumo3"], "there is no dialect \"zumo3\""),
            (["--server", "http://127.0.0.1:1", "--store", "memory"], "--store is for stores"),
            (["--server", "http://127.0.0.1:1", "--filter", "SRV-999"], "no check matches"),
            (["--server", "http://127.0.0.1:1", "--rows", "50001"], "--rows must be at most 50000 with --server"),
            (["--server", "http://127.0.0.1:1", "--token-file", "/none"], "--token-file: /none cannot be"),
            (["--server", "http://127.0.0.1:1", "--token-variable", "TIDELINE_NONE"], "no variable TIDELINE_NONE"),
            (["--table", "T"], "--table needs --server"),
        ])
    func usage(arguments: [String], reason: String) throws {
        try tool.run(["conformance"] + arguments).expect(2, reason)
    }

    @Test("Each engine provides all the hooks it supports")
    func hooks() throws {
        for engine in StoreEngine.all {
            let harness = try engine.harness()
            #expect(harness.modes.contains(.existing) == engine.keepsRows, "\(engine.name)")
            #expect(harness.modes.contains(.readOnly) == engine.settings.contains("read-only"), "\(engine.name)")
            #expect((harness.destroy != nil) == engine.keepsRows, "\(engine.name)")
            #expect((harness.faults != nil) == engine.keepsRows, "\(engine.name)")
        }
    }

    @Test("An explanation finds the check, whatever the case of its ID")
    func explanation() throws {
        let check = try #require(Check.all.first { !$0.explanation.isEmpty })
        let output = try tool.run("conformance", "--explain", check.id.lowercased()).expect(0, check.explanation)
        #expect(output.out.hasPrefix("\(check.id)  \(check.promise)\n"))
    }
}

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
        try tool.run("conformance", "--server", original.url, "--filter", "SRV-404", "--strict").expect(1)
        // A check of Datasync 3 only.
        try tool.run("conformance", "--server", original.url, "--filter", "SRV-406", "--strict").expect(0)
        try tool.run("conformance", "--server", original.url, "--filter", "SRV-503").expect(0)
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
