import Foundation
import Testing
import TidelineStore
import TidelineSupport

@testable import TidelineConformance

@Suite("The report of a server")
struct ServerReportTests {
    private static let report = ConformanceReport(
        suite: SuiteSummary(version: "1.2", checks: 3),
        settings: ReportSettings(ConformanceSettings(rows: 500), server: "http://127.0.0.1:8080"),
        checks: [
            CheckSummary(id: "SRV-101", group: .serverRequests, tier: .tolerated, promise: "It asks for a version"),
            CheckSummary(id: "SRV-201", group: .serverLists, tier: .required, promise: "It counts"),
            CheckSummary(id: "SRV-202", group: .serverLists, tier: .required, promise: "It sorts"),
        ],
        stores: [
            dialect("zumo2", [("SRV-101", .tolerated), ("SRV-201", .failed), ("SRV-202", .passed)]),
            dialect("datasync3", [("SRV-101", .skipped), ("SRV-201", .passed), ("SRV-202", .passed)]),
        ])

    private static func dialect(_ name: String, _ results: [(String, CheckStatus)]) -> StoreReport {
        let results = results.map { id, status in
            CheckResult(
                id: id, status: status, reason: [.tolerated, .skipped].contains(status) ? "because" : nil,
                failure: status == .failed ? .init(message: "found 1", seed: 1, script: "GET tables/T") : nil)
        }
        return StoreReport(name: name, capabilities: nil, results: results, seconds: 1, among: [])
    }

    @Test func `a tolerated deviation is counted, and is no failure`() {
        #expect(Self.report.hasFailures)
        #expect(Self.report.stores.map(\.totals.tolerated) == [1, 0])
        #expect(!CheckStatus.tolerated.isFailure)
        #expect(Self.report.stores.allSatisfy { $0.profiles.isEmpty })
    }

    @Test func `the terminal shows tolerated deviations, and how to repeat a check; it has no profiles`() {
        let text = TerminalReport(command: "tideline conformance").text(of: Self.report)
        #expect(text.contains("tolerated  zumo2  SRV-101  because"))
        #expect(
            text.contains(
                "repeat: tideline conformance --server http://127.0.0.1:8080 --dialect zumo2 --filter SRV-201"))
        #expect(text.contains("1 failure in 3 checks over 2 dialects."))
        #expect(text.contains("GET tables/T"))
        #expect(!text.contains("Durable") && !text.contains("--store") && !text.contains("--rows"))
    }

    @Test func `documents name the server, and have no profiles and capabilities`() {
        for text in [MarkdownReport().text(of: Self.report), HTMLReport().text(of: Self.report)] {
            #expect(text.contains("Conformance of http://127.0.0.1:8080"))
            #expect(text.contains("Tolerated deviations"))
            #expect(!text.contains("Declared capabilities") && !text.contains("Profiles"))
        }
    }

    @Test func `JUnit counts tolerated deviations as skipped, with the reason`() {
        let text = JUnitReport().text(of: Self.report)
        #expect(text.contains(#"name="zumo2" tests="3" failures="1" errors="0" skipped="1""#))
        #expect(text.contains(#"<skipped message="tolerated: because"/>"#))
    }

    @Test func `a badge counts the failures, or else the tolerated deviations`() throws {
        #expect(try BadgeReport().text(of: Self.report).contains("1 failed"))
        var passed = Self.report
        passed.stores[0] = Self.dialect("zumo2", [("SRV-101", .tolerated), ("SRV-201", .passed), ("SRV-202", .passed)])
        #expect(try BadgeReport().text(of: passed).contains("passed, 1 tolerated"))
    }

    @Test func `the report is read back, and one of an earlier version without tolerated deviations too`() throws {
        let text = try JSONReport().text(of: Self.report)
        #expect(try ConformanceReport(json: Data(text.utf8)) == Self.report)
        let lines = text.split(separator: "\n").filter {
            !$0.contains(#""tolerated" : "#) && !$0.contains(#""server" : "#)
        }
        var earlier = lines.joined(separator: "\n")
        earlier.replace(#/,(\s*})/#) { $0.output.1 }
        let read = try ConformanceReport(json: Data(earlier.utf8))
        #expect(read.settings.server == nil)
        #expect(read.stores.map(\.totals.tolerated) == [0, 0])
        #expect(read.stores[0].totals.failed == 1)
    }
}
