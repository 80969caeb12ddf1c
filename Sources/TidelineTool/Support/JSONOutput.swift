#if Serve
internal import Foundation

/// Values as JSON.
enum JSONOutput {
    /// Prints a value on standard output.
    static func print(_ value: some Encodable) throws { StandardOutput.line(try text(value)) }

    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
#endif
