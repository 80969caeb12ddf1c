import Foundation
import Testing

/// Expects that an article of the core contains the given number of Swift examples, and that the calling file compiles
/// each of their lines.
func expectExamples(
    of article: String, count: Int, file: String = #filePath, location: SourceLocation = #_sourceLocation
) throws {
    let source = try String(contentsOfFile: file, encoding: .utf8)
    let root = URL(fileURLWithPath: file)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
        contentsOf: root.appendingPathComponent("Sources/Tideline/Tideline.docc/\(article).md"), encoding: .utf8)
    let blocks = text.components(separatedBy: "```swift\n").dropFirst()
        .map { $0.components(separatedBy: "```")[0].split(separator: "\n") }
    #expect(blocks.count == count, sourceLocation: location)
    let lines = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    for line in blocks.joined() {
        let line = line.trimmingCharacters(in: .whitespaces)
        #expect(lines.contains(line), "not compiled: \(line)", sourceLocation: location)
    }
}
