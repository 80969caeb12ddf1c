import Foundation
import Testing
import TidelineConformance

/// Returns the text of a file of the package.
func packageText(_ path: String) throws -> String {
    let root = (1...3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
}

/// Tests that the code in the articles is the code that is built.
@Suite struct ArticleTests {
    /// Returns the lines of code between two headings of an article.
    private static func code(in text: String, from start: String, to end: String) -> [String] {
        let part = text.components(separatedBy: start).last?.components(separatedBy: end).first ?? ""
        let blocks = part.components(separatedBy: "```swift\n").dropFirst()
        return blocks.flatMap { $0.components(separatedBy: "```")[0].split(separator: "\n") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test func theEngineOfTheArticleIsTheExamples() throws {
        let sources = ["SortedFileEngine", "SortedSnapshot", "SortedFileStore"]
        let example = try sources.map { try packageText("Examples/CustomStore/Sources/SortedFileStore/\($0).swift") }
        let lines = Set(example.flatMap { $0.split(separator: "\n") }.map { $0.trimmingCharacters(in: .whitespaces) })
        let article = try packageText("Conformance/Suite/TidelineConformance.docc/ImplementingAStore.md")
        let shown = Self.code(in: article, from: "### The engine", to: "### Say only what is true")
        #expect(shown.count > 50)
        for line in shown { #expect(lines.contains(line), "not in the example: \(line)") }
    }

    @Test func theEngineIsShort() throws {
        let sources = ["SortedFileEngine", "SortedSnapshot"]
        let code = try sources.flatMap {
            try packageText("Examples/CustomStore/Sources/SortedFileStore/\($0).swift").split(separator: "\n")
        }
        let lines = code.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.hasPrefix("//") && !$0.contains("import ") }
        #expect(lines.count < 105)
    }

    /// `make conformance-pages` updates the page.
    @Test func thePageOfChecksHasThemAll() throws {
        let page = try packageText("Conformance/Suite/TidelineConformance.docc/Checks.md")
        let listed = page.split(separator: "\n").compactMap { line in
            line.hasPrefix("| `") ? Check.named(String(line.dropFirst(3).prefix { $0 != "`" }))?.id : nil
        }
        #expect(listed == Profile.full.checks.map(\.id))
        #expect(listed.count >= 150)
    }
}
