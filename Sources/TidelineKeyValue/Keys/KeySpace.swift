/// A range of keys for one purpose, identified by the four bytes with which each of its keys begins.
///
/// All spaces have the same length, so none is a prefix of another.
struct KeySpace: Hashable, Comparable, Codable, Sendable {
    /// The space of the store's catalog: format, definitions, and counts.
    static let meta = KeySpace(number: 0)

    /// The number of bytes of a space in a key.
    static let length = 4

    let number: UInt32

    init(number: UInt32) { self.number = number }

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(UInt32.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    static func < (a: KeySpace, b: KeySpace) -> Bool { a.number < b.number }

    /// The prefix of the space's keys, big-endian.
    var prefix: [UInt8] { unsafe withUnsafeBytes(of: number.bigEndian, Array.init) }

    /// The range of all keys of the space.
    var range: KeyRange { KeyRange(prefix: prefix) }
}
