import Testing
import TidelineConformance
import TidelineSupport

@testable import TidelineStore

@Suite("Views of stored bytes")
struct RowViewTests {
    private static let shape = RowShape(table: "Item", columns: [.int("n"), .string("s"), .bool("b"), .timestamp("t")])

    private func packed(_ row: Row) throws -> [UInt8] {
        var rows = PackedRows(shape: Self.shape)
        try rows.append(row)
        return rows.withRow(at: 0) { $0.withPackedBytes { Array($0) } }
    }

    /// Returns the values of stored bytes, read from an address of odd alignment.
    private func read(_ bytes: [UInt8], shape: RowShape = shape, id: [UInt8] = [65]) throws -> [Value?] {
        try ([0] + bytes).withUnsafeBytes { all in
            try id.withUnsafeBytes { id in
                var view = RowView(shape: shape)
                try view.point(atID: id, validating: UnsafeRawBufferPointer(rebasing: all[1...]))
                return (0..<shape.count).map { view.value(at: $0) }
            }
        }
    }

    private let row: Row = ["id": "a", "n": 5, "s": "text", "b": true, "t": .timestamp(.max)]

    @Test("An unchecked tag equals the checked tag of the same number")
    func knownTags() {
        for number in UInt8.min...UInt8.max {
            guard let tag = RowTag(rawValue: number) else { continue }
            #expect(RowTag(known: number) == tag)
        }
    }

    @Test("Stored bytes are read back; columns added later are absent")
    func roundTrip() throws {
        let bytes = try packed(row)
        #expect(try read(bytes) == [5, "text", true, .timestamp(.max)])
        let longer = RowShape(columns: Self.shape.columns + [.string("new")])
        #expect(try read(bytes, shape: longer) == [5, "text", true, .timestamp(.max), nil])
    }

    @Test("Truncated bytes are refused at every length")
    func truncation() throws {
        let bytes = try packed(row)
        for length in 0..<bytes.count {
            #expect(throws: StoreError.self) { try read(Array(bytes[..<length])) }
        }
        #expect(throws: StoreError.self) { try read(bytes + [0]) }
    }

    @Test("A changed byte is refused or gives values of the columns' types; it never traps", arguments: [4, 70_000])
    func corruption(textLength: Int) throws {
        var row = row
        row["s"] = .string(String(repeating: "x", count: textLength))
        let bytes = try packed(row)
        for position in bytes.indices.prefix(100) {
            for value in [0, 1, 2, 3, 4, 6, 9, 10, 127, 128, 255] as [UInt8] where bytes[position] != value {
                var damaged = bytes
                damaged[position] = value
                do {
                    for (column, value) in zip(Self.shape.columns, try read(damaged)) {
                        #expect(value?.type == nil || value?.type == column.type)
                    }
                } catch let error as StoreError {
                    #expect(error.code == .corrupt)
                    #expect(error.table == "Item")
                }
            }
        }
    }

    @Test("Random bytes are refused or read; they never trap", arguments: 0..<50 as Range<UInt64>)
    func noise(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            var bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...9, using: &random)
            }
            if bytes.count > 3 { (bytes[0], bytes[2], bytes[3]) = (UInt8.random(in: 1...2, using: &random), 2, 0) }
            _ = try? read(bytes)
        }
    }

    @Test("An integer id has eight bytes")
    func integerID() throws {
        let bytes = try packed(row)
        let numbered = RowShape(idType: .int, columns: Self.shape.columns)
        #expect(throws: StoreError.self) { try read(bytes, shape: numbered, id: [1, 2, 3]) }
        #expect(try read(bytes, shape: numbered, id: [1, 2, 3, 4, 5, 6, 7, 8]).count == 4)
    }

    @Test("An instant out of range in stored bytes is clamped to the range")
    func instantOutOfRange() throws {
        var bytes = try packed(row)
        for index in bytes.count - 8..<bytes.count { bytes[index] = 0xFF }
        bytes[bytes.count - 1] = 0x7F
        #expect(try read(bytes)[3] == .timestamp(.max))
    }

    @Test("Names are found by their bytes, whatever position is guessed", arguments: [-1, 0, 3, 99, .max, .min])
    func names(guess: Int) {
        let names = [
            "", "a", "b", "ab", "é", "e\u{301}", "12345678", "123456789", "1234567890123456",
            "12345678x12345678", "12345678y12345678", "\0", "\0\0",
        ]
        let shape = RowShape(columns: names.map { .int($0) })
        for (index, name) in names.enumerated() {
            #expect(Array(name.utf8).withUnsafeBytes { shape.index(ofUTF8: $0, guess: guess) } == index)
        }
        #expect(shape.index(of: "c") == nil)
        #expect(shape.index(of: "12345678z12345678") == nil)
    }
}
