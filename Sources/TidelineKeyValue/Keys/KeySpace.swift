/// A stretch of the keys that belongs to one purpose: four bytes with which each of its keys begins.
///
/// As the number has the same length everywhere, no space reaches into another.
struct KeySpace: Hashable, Comparable, Codable, Sendable {
    /// What the store knows of itself: format, definitions, counts.
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

    /// The beginning of its keys, big-endian.
    var prefix: [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

    /// All of its keys.
    var range: KeyRange { KeyRange(prefix: prefix) }
}
