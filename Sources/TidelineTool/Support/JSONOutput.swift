internal import Foundation

/// Prints values as JSON on standard output.
enum JSONOutput {
    static func print(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        StandardOutput.line(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
