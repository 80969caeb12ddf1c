public import TidelineStore
internal import TidelineSupport

/// Makes the rows of a run: row `n` is the same whenever it is asked for, so that ten million need not be kept.
public struct RowSource: Sendable {
    /// The table that the rows are of.
    public let table: BenchmarkTable
    /// How many bytes `text`, and each column beyond the first ten, has.
    public let valueSize: Int
    /// In which order ids come.
    public let keyOrder: KeyOrder
    /// What everything random begins with.
    public let seed: UInt64
    /// How many lists the rows are spread over, evenly at random.
    public let lists: Int

    private let shape: RowShape

    /// A source of rows.
    public init(table: BenchmarkTable, valueSize: Int = 32, keyOrder: KeyOrder = .random, seed: UInt64, lists: Int) {
        self.table = table
        self.valueSize = valueSize
        self.keyOrder = keyOrder
        self.seed = seed
        self.lists = max(lists, 1)
        shape = table.schema.makeShape()
    }

    /// The filter that finds the rows of one list.
    public func filter(_ list: Int) -> RowFilter { RowFilter(list: Self.name(ofList: list)) }

    /// The list that a row is in.
    public func list(of index: Int) -> Int {
        var random = random(index, 1)
        return Int(random.next() % UInt64(lists))
    }

    /// The id of a row.
    public func id(_ index: Int) -> RowID {
        var random = random(index, 2)
        switch keyOrder {
        case .random: return .string(RowText.uuid(random.next(), random.next(), version: 4))
        case .sequential: return .string(RowText.number(index, digits: 12))
        case .uuid7:
            // Rows of one millisecond are told apart by the twelve bits behind it, so that ids of later rows are greater
            // only from one millisecond to the next.
            let milliseconds = UInt64(1_700_000_000_000 + index / 8)
            return .string(RowText.uuid(milliseconds << 16 | random.next() & 0xFFF, random.next(), version: 7))
        }
    }

    /// A text of row `index` as it is after so many changes.
    public func text(_ index: Int, revision: Int = 0) -> String { text(index, revision: revision, size: valueSize) }

    /// The same of another size.
    func text(_ index: Int, revision: Int = 0, size: Int) -> String {
        var random = random(index, 3 + UInt64(revision))
        return RowText.words(size, &random)
    }

    /// The values of a row, in the order of the table's columns.
    public func values(_ index: Int) -> [Value] { values(index, text: text(index)) }

    /// The values of a row with another text.
    func values(_ index: Int, text: String) -> [Value] {
        var random = random(index, 0)
        // An instant of the century after 1970, in milliseconds as the services have them.
        let due = Int64(random.next() % 3_155_760_000_000) * Timestamp.ticksPerMillisecond
        var values: [Value] = [
            .string(text), .string(Self.name(ofList: list(of: index))),
            .int(Int64(random.next() >> 1)), .bool(random.next() & 1 == 0),
            .double(Double(random.next() % 1_000_000) / 100), .timestamp(Timestamp(clampingTicks: due)),
            random.next() % 4 == 0 ? .null : .string(RowText.words(24, &random)),
            .string("owner-\(random.next() % 1_000)"),
        ]
        for _ in values.count..<table.schema.columns.count { values.append(.string(RowText.words(valueSize, &random))) }
        let updated = Int64(1_700_000_000_000 + index) * Timestamp.ticksPerMillisecond
        values += [.timestamp(Timestamp(clampingTicks: updated)), .string(String(index, radix: 36))]
        return values
    }

    /// What is random about a row: each thing of it begins elsewhere.
    private func random(_ index: Int, _ thing: UInt64) -> SplitMix64 {
        var start = SplitMix64(seed: seed ^ UInt64(index) &* 0xD1B5_4A32_D192_ED03)
        return SplitMix64(seed: start.next() ^ thing &* 0xA076_1D64_78BD_642F)
    }

    private static func name(ofList list: Int) -> String { "list-" + RowText.number(list, digits: 5) }
}

// MARK: - Batches

extension RowSource {
    /// Batches of the rows of a range, each of `size` rows, the last of what is left.
    /// - Parameter asRows: Whether they also have `Row` values.
    public func batches(_ range: Range<Int>, of size: Int, asRows: Bool = false) throws -> [RowBatch] {
        try batches(Array(range), of: size, asRows: asRows)
    }

    /// Batches of these rows in this order, each of `size` rows, the last of what is left.
    /// - Parameters:
    ///   - asRows: Whether they also have `Row` values.
    ///   - text: The text of a row, where it is not that of the source.
    func batches(
        _ indexes: [Int], of size: Int, asRows: Bool = false, text: ((Int) -> String)? = nil
    ) throws -> [RowBatch] {
        try stride(from: 0, to: indexes.count, by: size).map { start in
            try batch(Array(indexes[start..<min(start + size, indexes.count)]), asRows: asRows, text: text)
        }
    }

    /// A batch of these rows, in this order.
    public func batch(_ indexes: [Int], asRows: Bool = false) throws -> RowBatch {
        try batch(indexes, asRows: asRows, text: nil)
    }

    private func batch(_ indexes: [Int], asRows: Bool, text: ((Int) -> String)?) throws -> RowBatch {
        var packed = PackedRows(shape: shape)
        var rows: [Row] = []
        for index in indexes {
            let id = id(index)
            let values = values(index, text: text?(index) ?? self.text(index))
            packed.beginRow()
            packed.setID(id)
            for (column, value) in values.enumerated() { packed.set(value, at: column) }
            try packed.endRow()
            if asRows { rows.append(row(id, values)) }
        }
        return RowBatch(packed, indexes: indexes, rows: rows)
    }

    private func row(_ id: RowID, _ values: [Value]) -> Row {
        zip(shape.columns, values).reduce(into: Row(id: id)) { $0[$1.0.name] = $1.1 }
    }
}

/// In which order the ids of new rows come.
public enum KeyOrder: String, Sendable, Codable, CaseIterable {
    /// UUIDs of version 4: each falls anywhere among the others.
    case random
    /// Decimal numbers with leading zeros: each comes after the others.
    case sequential
    /// UUIDs of version 7: in order of time, at random within a millisecond, of which each has eight.
    case uuid7
}

/// Whole rows that are written in one transaction, made before the time is taken.
public final class RowBatch: Sendable {
    /// The rows, packed.
    public let packed: PackedRows
    /// Which rows of their ``RowSource`` they are, one for each; empty where they are of none.
    public let indexes: [Int]
    /// The same as `Row` values; empty where no work needs them.
    public let rows: [Row]

    /// A batch of packed rows.
    public init(_ packed: consuming PackedRows, indexes: [Int] = [], rows: [Row] = []) {
        self.packed = packed
        self.indexes = indexes
        self.rows = rows
    }
}

/// Texts of rows, made byte by byte where they stay: a run makes tens of millions.
enum RowText {
    /// Words of letters: what stands in a text does not matter to a store, only how long it is.
    static func words(_ size: Int, _ random: inout SplitMix64) -> String {
        String(unsafeUninitializedCapacity: size) { bytes in
            var word: UInt64 = 0
            for place in 0..<size {
                word = place % 8 == 0 ? random.next() : word >> 8
                let letter = UInt8(truncatingIfNeeded: word & 0x1F)
                bytes[place] = letter < 26 ? UInt8(ascii: "a") + letter : UInt8(ascii: " ")
            }
            return size
        }
    }

    /// A number in decimal, with zeros before it where it has fewer digits.
    static func number(_ number: Int, digits: Int) -> String {
        let text = String(number)
        return text.utf8.count < digits ? String(repeating: "0", count: digits - text.utf8.count) + text : text
    }

    /// A UUID of these 128 bits but those that tell its version and its variant.
    static func uuid(_ high: UInt64, _ low: UInt64, version: UInt64) -> String {
        let high = high & ~0xF000 | version << 12
        let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { bytes in
            var place = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    bytes[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = digit < 16 ? high : low
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - digit % 16 * 4) & 0xF)
                bytes[place] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
                place += 1
            }
            return place
        }
    }
}
