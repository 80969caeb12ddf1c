import Foundation
import Testing

/// Expects that an article of the core contains the given number of Swift examples, and that the calling file compiles
/// each of their lines.
func expectExamples(
    of article: String, count: Int, file: String = #filePath, location: SourceLocation = #_sourceLocation
) throws {
    let blocks = try swiftBlocks(in: "Sources/Tideline/Tideline.docc/\(article).md", file: file)
    #expect(blocks.count == count, sourceLocation: location)
    try expectCompiled(blocks, file: file, location: location)
}

/// Returns the lines of each Swift example in a file of the package.
func swiftBlocks(in path: String, file: String = #filePath) throws -> [[Substring]] {
    let root = URL(fileURLWithPath: file)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    return text.components(separatedBy: "```swift\n").dropFirst()
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
