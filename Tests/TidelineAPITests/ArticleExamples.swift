import Foundation
import Testing

/// Expects that an article of the core contains the given number of Swift examples, and that the calling file compiles
/// each of their lines.
func expectExamples(
    of article: String, count: Int, file: String = #filePath, location: SourceLocation = #_sourceLocation
) throws {
    let blocks = try swiftBlocks(in: "Sources/Tideline/Tideline.docc/\(article).md")
    #expect(blocks.count == count, sourceLocation: location)
    try expectCompiled(blocks, file: file, location: location)
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

/// Expects that the calling file contains each line of the examples.
func expectCompiled(
    _ blocks: [[Substring]], file: String = #filePath, location: SourceLocation = #_sourceLocation
) throws {
    let source = try String(contentsOfFile: file, encoding: .utf8)
    let lines = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    for line in blocks.joined() {
        let line = line.trimmingCharacters(in: .whitespaces)
        #expect(lines.contains(line), "not compiled: \(line)", sourceLocation: location)
    }
}
