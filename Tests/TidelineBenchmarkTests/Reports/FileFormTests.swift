#if Commands
import Foundation
import Testing
import TidelineStore
import TidelineSupport

@testable import TidelineBenchmark

@Suite("The report as CSV, Markdown and HTML")
struct FileFormTests {
    private let report = SampleReport.large(rows: [1000, 10_000])

    // MARK: CSV

    @Test("CSV has a line for each iteration, with the same number of fields")
    func csv() throws {
        let rows = try parse(BenchmarkCSVReport().text(of: report))
        #expect(Set(rows.map(\.count)) == [25])
        let lines = rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(rows[0], $0)) }
        let figures = report.results.flatMap(\.subjects)
        #expect(lines.count == figures.reduce(0) { $0 + max($1.samples.count, 1) })
        let first = try #require(lines.first)
        #expect(first["workload"] == "upsert-packed-1000")
        #expect(first["title"] == "bulk upsert, packed rows, 1000 a transaction")
        #expect(first["repetition"] == "1")
        let sample = report.results[0].subjects[0].samples[0]
        #expect(first["seconds"].flatMap(Double.init) == sample.seconds)
        let bare = report.results[0].subjects[4].samples[0]
        #expect(first["ratio_to_c"].flatMap(Double.init) == bare.seconds / sample.seconds)
        #expect(lines.contains { $0["failure"]?.hasPrefix("failed: mdb_put") == true && $0["seconds"] == "" })
    }

    @Test("CSV preserves every text, and no field is a formula")
    func csvFields() throws {
        var report = SampleReport.hostile
        report.results[1].title = "=1+2"
        let rows = try parse(BenchmarkCSVReport().text(of: report))
        #expect(Set(rows.map(\.count)) == [25])
        #expect(rows[1][2] == "Title \(SampleReport.nasty)")
        #expect(rows[2][2] == "'=1+2")
    }

    /// Parses CSV (RFC 4180).
    private func parse(_ text: String) throws -> [[String]] {
        var (rows, row, field, isQuoted): ([[String]], [String], String.UnicodeScalarView, Bool) = (
            [], [], .init(), false
        )
        var scalars = text.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\"" where isQuoted && scalars.first == "\"":
                field.append(scalar)
                scalars.removeFirst()
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                row.append(String(field))
                field = .init()
            case "\r" where !isQuoted:
                try #require(scalars.popFirst() == "\n")
                rows.append(row + [String(field)])
                (row, field) = ([], .init())
            default: field.append(scalar)
            }
        }
        #expect(row.isEmpty && !isQuoted)
        return rows
    }

    // MARK: Markdown

    @Test("Markdown escapes all texts, and the fastest is bold")
    func markdown() {
        let text = BenchmarkMarkdownReport().text(of: report)
        #expect(MarkdownCheck.unevenRows(text) == [])
        #expect(text.contains("## 10,000 rows"))
        #expect(text.contains("### Writing"))
        #expect(text.contains("| --- | --- | ---: |"))
        #expect(text.contains(#/\| upsert of rows that exist \| row \| [^|]* \| \*\*[0-9.]+ µs\*\*, [^|]*±[^|]*×C \|/#))
        #expect(text.contains("- wrong answer: leveldb: 999 rows found"))
        let hostile = BenchmarkMarkdownReport().text(of: SampleReport.hostile)
        #expect(MarkdownCheck.unevenRows(hostile) == [])
        #expect(!hostile.contains("<script"))
        #expect(!hostile.contains("\u{1B}"))
    }

    // MARK: HTML

    @Test("The page is self-contained and well-formed, and all texts are escaped")
    func html() {
        let text = BenchmarkHTMLReport().text(of: report)
        #expect(text.hasPrefix("<!DOCTYPE html>"))
        #expect(text.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"))
        #expect(HTMLCheck.problems(text) == [])
        // Numbers in the first column have the alignment of their heading.
        #expect(text.contains(#/<th scope="col" class="number"><span>rows</#))
        #expect(text.contains(#/<th scope="row" class="number">[0-9,]+</#))
        #expect(HTMLCheck.problems(BenchmarkHTMLReport().text(of: SampleReport.hostile)) == [])
        #expect(HTMLCheck.problems(BenchmarkHTMLReport().text(of: SampleReport.report([], []))) == [])
    }

    @Test("Each workload has bars with a label; only several numbers of rows have a chart of the cost")
    func charts() {
        let text = BenchmarkHTMLReport().text(of: report)
        #expect(text.matches(of: #/<svg class="bars"/#).count > 2 * 29)
        #expect(text.contains(#/role="img" aria-label="upsert of rows that exist: sqlite [0-9.]+k rows\/s · /#))
        #expect(text.contains("<h2>Cost by number of rows</h2>"))
        #expect(text.contains("99.9 %"))
        let single = BenchmarkHTMLReport().text(of: SampleReport.large(rows: [1000]))
        #expect(!single.contains("Cost by number of rows"))
    }

    @Test("All bars of a workload have one scale, for every durability")
    func scales() throws {
        let subjects = [
            SampleReport.subject("disk", engine: "e"), SampleReport.subject("memory", engine: "m", .none),
        ]
        let work = SampleReport.workload("w", [SampleReport.result("disk", [100]), SampleReport.result("memory", [1])])
        let text = BenchmarkHTMLReport().text(of: SampleReport.report(subjects, [work]))
        #expect(text.matches(of: #/<rect x="0.0" y="17.0" width="340.0"/#).count == 1)
        #expect(text.matches(of: #/<rect x="0.0" y="17.0" width="3.4"/#).count == 1)
        #expect(text.contains("<p class=\"survival\">in memory only</p>"))
    }

    @Test("Every format warns of a debug build, an interruption and an early end")
    func warnings() {
        var report = report
        report.environment.host.build = "debug"
        report.isInterrupted = true
        report.stopReason = "the disk is full"
        let writers: [any BenchmarkReportWriter] = [
            BenchmarkTerminalReport(), BenchmarkMarkdownReport(), BenchmarkHTMLReport(),
        ]
        for writer in writers {
            let text = (try? writer.text(of: report)) ?? ""
            for words in ["MEANINGLESS", "was interrupted", "the disk is full"] { #expect(text.contains(words)) }
        }
    }
}

@Suite("The report as JSON")
struct JSONTests {
    private let report = SampleReport.large(rows: [1000])

    @Test("A decoded report is equal, and encodes to the same bytes")
    func roundTrip() throws {
        let text = try BenchmarkJSONReport().text(of: report)
        let read = try BenchmarkReport(json: Data(text.utf8), path: "r.json")
        #expect(read == report)
        #expect(text == (try BenchmarkJSONReport().text(of: read)))
        #expect(text.contains("\"schema\" : \"tideline-bench/1\""))
        let hostile = try BenchmarkJSONReport().text(of: SampleReport.hostile)
        #expect(try BenchmarkReport(json: Data(hostile.utf8), path: "") == SampleReport.hostile)
    }

    @Test("Another version and other files are rejected, with the path and the reason")
    func refusals() throws {
        let text = try BenchmarkJSONReport().text(of: report)
        let newer = message(text.replacing("tideline-bench/1", with: "tideline-bench/2\\u001b"))
        #expect(newer.hasPrefix("\"old\\\\u{7}.json\" has the format \"tideline-bench/2"))
        #expect(newer.contains("this version reads \"tideline-bench/1\""))
        #expect(!newer.contains("\u{1B}"))
        for other in ["{}", "", String(text.dropLast(9))] {
            #expect(message(other).contains("is not a benchmark report"), "\(other.prefix(9))")
        }
        #expect(message(text.replacing("\"warmUp\" : 1", with: "\"warmUp\" : \"1\"")).contains("settings.warmUp"))
        let kind = message(text.replacing("\"kind\" : \"store\"", with: "\"kind\" : \"\\u001b\""))
        #expect(kind.contains("subjects[0].kind") && !kind.contains("\u{1B}"), "\(kind)")
    }

    private func message(_ json: String) -> String {
        do {
            _ = try BenchmarkReport(json: Data(json.utf8), path: "old\u{7}.json")
            return "read"
        } catch { return "\(error)" }
    }
}

/// Finds problems of an HTML page.
enum HTMLCheck {
    /// External resources, unescaped text and unbalanced elements.
    static func problems(_ html: String) -> [String] {
        var problems: [String] = []
        for word in [" src=", "url(", "http:", "https:", "@import", "<link", "<script"] where html.contains(word) {
            problems.append("it has \(word)")
        }
        if html.unicodeScalars.contains(where: { $0.properties.generalCategory == .control && $0 != "\n" }) {
            problems.append("it has control characters")
        }
        if html.contains("nan") || html.contains("inf\"") { problems.append("it has invalid numbers") }
        return problems + unclosed(html)
    }

    private static func unclosed(_ html: String) -> [String] {
        let withoutStyle = html.replacing(#/<style>[\s\S]*?<\/style>/#, with: "")
        var open: [String] = []
        for match in withoutStyle.matches(of: #/<(\/?)([a-zA-Z!][a-zA-Z0-9]*)[^>]*>/#) {
            let name = String(match.output.2)
            if ["meta", "br", "!DOCTYPE"].contains(name) { continue }
            if match.output.1.isEmpty {
                open.append(name)
            } else if open.popLast() != name {
                return ["\(name) is closed in the wrong order"]
            }
        }
        return open.map { "\($0) is not closed" }
    }
}

/// Finds problems of Markdown tables.
enum MarkdownCheck {
    /// The rows whose number of cells differs from the row before.
    static func unevenRows(_ text: String) -> [String] {
        var (cells, uneven): (Int?, [String]) = (nil, [])
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                cells = nil
                continue
            }
            let count = line.replacing("\\|", with: "").count { $0 == "|" }
            if !line.hasSuffix("|") || count != cells ?? count { uneven.append(String(line)) }
            cells = count
        }
        return uneven
    }
}
#endif
