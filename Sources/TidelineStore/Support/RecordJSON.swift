#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The JSON of the records that stores and the sync core keep for themselves, such as definitions and tokens. Members
/// are sorted, so that equal records have equal text.
package enum RecordJSON {
    package static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    package static func decode<T: Decodable>(_ type: T.Type = T.self, from text: String) throws -> T {
        try decode(from: Array(text.utf8))
    }

    /// Creates the data from an array: for other sequences, `Data` checks at run time whether they are contiguous,
    /// which takes longer.
    package static func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: [UInt8]) throws -> T {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
