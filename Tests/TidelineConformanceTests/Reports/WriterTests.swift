import Foundation
import Testing
import TidelineSupport

@testable import TidelineConformance

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("Report formats")
struct WriterTests {
    private let report = SampleReport.report

    // MARK: Terminal

    @Test("The terminal shows the beginning of a long line, and how much is left out; other reports show all of it")
    func longLines() throws {
        var report = SampleReport.report
        let value = String(repeating: "v", count: 100_000)
        report.stores[0].results[1].failure?.message = "found \(value)\nexpected w"
        let text = TerminalReport().text(of: report)
        #expect(!text.contains(value))
        #expect(text.contains("… (99006 more characters; a report in JSON or HTML contains them)\n    expected w"))
        #expect(text.count < 20_000)
        #expect(try JSONReport().text(of: report).contains(value))
        #expect(HTMLReport().text(of: report).contains(value))
    }

    @Test("In a terminal, a failure has its promise, the finding, the command that reproduces it, and a script")
    func failure() {
        let text = TerminalReport(command: "tideline conformance").text(of: report)
        #expect(text.contains("FAILED  bad <script>"))
        #expect(text.contains("UPS-002  Promise <script>"))
        #expect(text.contains("    found <script>alert(1)</script>&amp;"))
        #expect(text.contains("    next\\u{d}\\u{0}\\u{1b}[31m\\u{7}\\u{202e}"))
        #expect(text.contains("--filter UPS-002 --seed 18446744073709551615 --rounds 3"))
        #expect(text.contains("        let a = 1\n"))
        #expect(text.contains("HARNESS ERROR  bad"))
        #expect(text.contains("UNEXPECTED PASS  bad"))
        #expect(text.contains("The promise holds but is listed as a known failure: issue 13"))
    }

    @Test("The command that reproduces a failure has each option that is not the default")
    func repetition() {
        var report = SampleReport.report
        report.settings = ReportSettings(ConformanceSettings(rows: 500, profile: .long))
        report.settings.options = ["--fixtures", "a b"]
        let text = TerminalReport(command: "tideline conformance").text(of: report)
        #expect(text.contains("--filter UPS-002 --seed \(UInt64.max) --rows 500 --profile long --fixtures 'a b'"))
    }

    @Test("In a terminal, checks that did not run are grouped by reason; the summary contains every store and profile")
    func summary() throws {
        let text = TerminalReport().text(of: report)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("not run  1  bad") && $0.hasSuffix("no hook (DUR-001)") })
        #expect(lines.contains { $0.hasPrefix("known failure  bad") && $0.hasSuffix("DUR-002  issue 12") })
        let good = try #require(lines.last { $0.hasPrefix("good") })
        let words = good.split(separator: " ").map(String.init)
        #expect(
            words == ["good", "7", "0", "0", "0", "0", "0", "0", "3.5", "s"] + Array(repeating: "reached", count: 4))
        #expect(lines.last == "3 failures in 7 checks over 2 stores.")
    }

    @Test("No control character reaches a terminal, and no color is written when colors are off")
    func control() {
        let plain = TerminalReport(command: "x").text(of: report)
        #expect(!plain.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
        let colored = TerminalReport(command: "x", style: TerminalStyle(isColored: true)).text(of: report)
        #expect(colored.contains("\u{1B}[31mFAILED\u{1B}[0m"))
        #expect(colored.replacing(#/\u{1B}\[\d+m/#, with: "") == plain)
    }

    @Test("A long script is cut in a terminal, with the number of omitted lines")
    func longScript() {
        var report = report
        report.stores[0].results[1].failure?.script = (1...100).map { "line \($0)" }.joined(separator: "\n")
        let text = TerminalReport().text(of: report)
        #expect(text.contains("        … 60 earlier lines; a report in JSON or HTML contains them\n        line 61\n"))
        #expect(text.contains("line 100\n") && !text.contains("line 60\n"))
    }

    @Test("With --quiet, a terminal shows only failures and the summary")
    func quiet() {
        let text = TerminalReport(isQuiet: true).text(of: report)
        #expect(text.contains("FAILED"))
        #expect(text.contains("store"))
        #expect(!text.contains("no hook"))
    }

    // MARK: JUnit

    @Test("The JUnit XML is well formed and preserves all text that XML can contain")
    func junit() throws {
        let document = try XMLElements(JUnitReport().text(of: report))
        #expect(document.errors.isEmpty)
        let suites = document.named("testsuite")
        #expect(suites.count == 2)
        let counts = ["tests", "failures", "errors", "skipped", "time"].map { suites[0][$0] }
        #expect(counts == ["7", "2", "1", "3", "12.250"])
        #expect(
            suites[0]["name"]?.hasPrefix(
                "bad <script>alert(1)</script>&amp; \"it's\" ]]> a|b `c` *d*\nnext\r\\u{0}\\u{1b}[31m") == true)
        let cases = document.named("testcase")
        #expect(cases.count == 14)
        #expect(cases[1]["classname"]?.hasSuffix(".upsert") == true)
        #expect(cases[1]["name"]?.hasPrefix("UPS-002 Promise <script>") == true)
        #expect(document.named("failure").map { $0["type"] } == ["failed", "unexpectedPass"])
        #expect(document.named("error").map { $0["message"] } == ["no folder"])
        #expect(
            document.named("skipped").compactMap { $0["message"] }.map { String($0.prefix(15)) } == [
                "skipped: declar", "not run: no hoo", "known failure: ",
            ])
        #expect(document.text(of: "failure").contains("let a = 1\n// <script>"))
    }

    // MARK: Markdown

    @Test("In Markdown no text ends a cell, and each row has as many cells as the heading")
    func markdown() throws {
        let text = MarkdownReport().text(of: report)
        var cells: Int?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                cells = nil
                continue
            }
            let count = line.replacing("\\|", with: "").count { $0 == "|" }
            #expect(line.hasSuffix("|") && count == cells ?? count, "\(line)")
            cells = count
        }
        #expect(text.contains("| `UPS-001` | An insert stores the row | ✓ | ✓ |"))
        #expect(
            text.contains(
                "&lt;script>alert(1)&lt;/script>&amp;amp; \"it's\" \\]\\]> a\\|b \\`c\\` \\*d\\* next\\\\u\\{d\\}"))
        #expect(!text.contains("<script"))
        #expect(!text.contains("\u{1B}"))
        #expect(text.contains("### Upsert"))
    }

    @Test("The list of checks in Markdown has every check, by group")
    func checkList() {
        let text = MarkdownCheckList().text(of: Check.all.map(\.summary))
        for check in Check.all { #expect(text.contains("| \(check.id) | "), "\(check.id)") }
        for group in Set(Check.all.map(\.group)) { #expect(text.contains("## \(group.title)\n")) }
        #expect(
            MarkdownCheckList().text(of: SampleReport.all.map(\.summary)).contains(
                "| UPS-001 | An insert stores the row | required |")
        )
    }

    // MARK: HTML

    @Test("The HTML page is self-contained: every tag is closed, nothing is loaded, no text becomes markup")
    func html() throws {
        let text = HTMLReport().text(of: report)
        #expect(text.hasPrefix("<!DOCTYPE html>"))
        #expect(!text.contains("<script>alert"))
        #expect(!text.contains("\u{0}") && !text.contains("\u{1B}") && !text.contains("\u{202E}"))
        for word in [" src=", "url(", "http:", "https:", "@import", "<link"] {
            #expect(!text.contains(word), "\(word)")
        }
        #expect(unclosed(text) == [])
        for check in SampleReport.checks {
            #expect(text.contains("<tr class=\"check\" id=\"\(check.id)\""), "\(check.id)")
        }
        let body = text.replacing(#/<script>[\s\S]*?<\/script>/#, with: "")
        #expect(body.contains("bad &lt;script&gt;alert(1)&lt;/script&gt;&amp;amp; &quot;it&#39;s&quot;"))
        #expect(body.contains("--filter UPS-002 --seed 18446744073709551615 --rounds 3"))
        #expect(body.contains("data-status=\"failed passed\""))
    }

    /// Returns the elements that are not closed in order.
    private func unclosed(_ html: String) -> [String] {
        let withoutCode = html.replacing(#/<(style|script)>[\s\S]*?<\/\1>/#, with: "")
        let void: Set = ["meta", "input", "!DOCTYPE"]
        var open: [String] = []
        for match in withoutCode.matches(of: #/<(\/?)([a-zA-Z!][a-zA-Z0-9]*)[^>]*>/#) {
            let name = String(match.output.2)
            if void.contains(name) { continue }
            if match.output.1.isEmpty {
                open.append(name)
            } else if open.popLast() != name {
                return ["\(name) is closed out of turn"]
            }
        }
        return open
    }

    // MARK: Badge

    @Test("A badge names the highest profile that all stores reach, and failures")
    func badge() throws {
        #expect(try badge(of: report) == ["Sync core, 2 failed", "yellow"])
        var good = report
        good.stores.removeFirst()
        #expect(try badge(of: good) == ["Full", "brightgreen"])
        good.stores[0].profiles[3].outcome = .open
        #expect(try badge(of: good) == ["Durable", "green"])
        for index in 0...2 { good.stores[0].profiles[index].outcome = .open }
        #expect(try badge(of: good) == ["not all run", "lightgrey"])
    }

    private func badge(of report: ConformanceReport) throws -> [String?] {
        let text = try BadgeReport().text(of: report)
        let badge = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(badge["schemaVersion"] as? Int == 1)
        #expect(badge["label"] as? String == "tideline conformance")
        return [badge["message"] as? String, badge["color"] as? String]
    }
}

/// The elements of an XML document, with their attributes and text.
private final class XMLElements: NSObject, XMLParserDelegate {
    private var elements: [(name: String, attributes: [String: String], text: String)] = []
    private(set) var errors: [any Error] = []

    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        if !parser.parse(), let error = parser.parserError { errors.append(error) }
    }

    func named(_ name: String) -> [[String: String]] { elements.filter { $0.name == name }.map(\.attributes) }
    func text(of name: String) -> String { elements.first { $0.name == name }?.text ?? "" }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements.append((name, attributes, ""))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if !elements.isEmpty { elements[elements.count - 1].text += string }
    }
}
