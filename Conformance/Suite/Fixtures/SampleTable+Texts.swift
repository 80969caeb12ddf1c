internal import TidelineStore

extension SampleTable {
    /// Texts whose byte order differs from their locale, UTF-16, numeric, and case-insensitive orders. The identifiers
    /// are in byte order.
    static let texts = SampleTable(
        .string("s"),
        rows: [
            ["id": "01", "s": ""], ["id": "02", "s": " "], ["id": "03", "s": "12"], ["id": "04", "s": "2"],
            ["id": "05", "s": "Z"], ["id": "06", "s": "_"], ["id": "07", "s": "a"], ["id": "08", "s": "a\0"],
            ["id": "09", "s": "a "], ["id": "10", "s": "ab"], ["id": "11", "s": "a\u{10FFFF}"],
            ["id": "12", "s": "a\u{10FFFF}b"], ["id": "13", "s": "b"], ["id": "14", "s": "z"],
            ["id": "15", "s": "\u{E4}"], ["id": "16", "s": "\u{D7FF}x"], ["id": "17", "s": "\u{E000}"],
            ["id": "18", "s": "\u{FFFF}"], ["id": "19", "s": "\u{10000}"], ["id": "20", "s": "😀"],
            ["id": "21", "s": "\u{10FFFF}"], ["id": "22", "s": "\u{10FFFF}\u{10FFFF}"], ["id": "23"],
        ])

    /// Texts longer than the keys of engines that differ only at their ends.
    static let long = SampleTable(
        .string("s"), .bytes("b"),
        rows: [
            ["id": "a", "s": .string(long("1")), "b": .bytes(longBytes(1))],
            ["id": "b", "s": .string(long("2")), "b": .bytes(longBytes(2))],
            ["id": "c", "s": .string(long("2\0")), "b": .bytes(longBytes(2) + [0])],
            ["id": "d", "s": .string(long("é")), "b": .bytes(longBytes(255))],
            ["id": "e", "s": .string(long("")), "b": .bytes([UInt8](repeating: 7, count: 1_999))],
            ["id": "f", "s": "k"],
        ])

    static func long(_ end: String) -> String { String(repeating: "k", count: 2_000) + end }
    static func longBytes(_ end: UInt8) -> [UInt8] { Array(repeating: 7, count: 2_000) + [end] }
}
