import Foundation
import Testing

@Suite("Articles")
struct ArticleTests {
    @Test(
        "A file of this folder, which the traits of the tests compile, has the lines of each example in their order",
        arguments: [
            ("ComingFromAzureMobileApps", "MigrationArticleTests", 7), ("LiveQueries", "LiveQueryArticle", 4),
            ("SyncThatRunsItself", "SyncArticle", 7), ("TypedTables", "TypedTableArticleTests", 9),
            ("UntypedTables", "UntypedTableArticle", 4),
        ])
    func examples(_ article: String, _ file: String, _ count: Int) throws {
        let blocks = try swiftBlocks(in: "Sources/Tideline/Tideline.docc/\(article).md")
        #expect(blocks.count == count)
        try expectCompiled(blocks, in: file)
    }
}

/// The folder of the package.
let packageFolder = (1...3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }

/// Returns the text of a file of the package.
func packageText(_ path: String) throws -> String {
    try String(contentsOf: packageFolder.appendingPathComponent(path), encoding: .utf8)
}

/// Returns the lines of each Swift example in a file of the package.
func swiftBlocks(in path: String) throws -> [[Substring]] {
    try packageText(path).components(separatedBy: "```swift\n").dropFirst()
        .map { $0.components(separatedBy: "```")[0].split(separator: "\n") }
}

/// Expects that a file of this folder contains the lines of each example in their order, perhaps with others between.
func expectCompiled(_ blocks: [[Substring]], in file: String) throws {
    let source = try packageText("Tests/TidelineAPITests/\(file).swift")
    let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    for block in blocks {
        var rest = lines[...]
        for line in block.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            let position = rest.firstIndex(of: line)
            #expect(position != nil, "not compiled, or not in this order: \(line)")
            if let position { rest = rest[(position + 1)...] }
        }
    }
}
