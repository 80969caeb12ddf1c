import Foundation
import Testing

@testable import TidelineBenchmark

@Suite("The report as JSON")
struct JSONTests {
    private let report = SampleReport.large(rows: [1000])

    @Test("A report is read back as it was, and gives the same bytes again")
    func roundTrip() throws {
        let text = try BenchmarkJSONReport().text(of: report)
        let read = try BenchmarkReport(json: Data(text.utf8), path: "r.json")
        #expect(read == report)
        #expect(text == (try BenchmarkJSONReport().text(of: read)))
        #expect(text.contains("\"schema\" : \"tideline-bench/1\""))
        let hostile = try BenchmarkJSONReport().text(of: SampleReport.hostile)
        #expect(try BenchmarkReport(json: Data(hostile.utf8), path: "") == SampleReport.hostile)
    }

    @Test("Another version is refused by name, and what is no report by what is missing, with the path")
    func refusals() throws {
        let text = try BenchmarkJSONReport().text(of: report)
        let newer = message(text.replacing("tideline-bench/1", with: "tideline-bench/2\\u001b"))
        #expect(newer.hasPrefix("\"old\\\\u{7}.json\" is of the form \"tideline-bench/2"))
        #expect(newer.contains("expected is \"tideline-bench/1\""))
        #expect(!newer.contains("\u{1B}"))
        #expect(message("{}").contains("is no results file of the benchmark"))
        #expect(message("").contains("is no results file of the benchmark"))
        #expect(message(String(text.dropLast(9))).contains("is no results file of the benchmark"))
        #expect(message(text.replacing("\"warmUp\" : 1", with: "\"warmUp\" : \"1\"")).contains("settings.warmUp"))
        #expect(
            message(text.replacing("\"kind\" : \"store\"", with: "\"kind\" : \"\\u001b\"")).contains("subjects[0].kind")
        )
        #expect(!message(text.replacing("\"kind\" : \"store\"", with: "\"kind\" : \"\\u001b\"")).contains("\u{1B}"))
    }

    private func message(_ json: String) -> String {
        do {
            _ = try BenchmarkReport(json: Data(json.utf8), path: "old\u{7}.json")
            return "read"
        } catch { return "\(error)" }
    }
}
