internal import Foundation
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

    /// A source of rows.
    public init(table: BenchmarkTable, valueSize: Int = 32, keyOrder: KeyOrder = .random, seed: UInt64, lists: Int) {
        self.table = table
        self.valueSize = valueSize
        self.keyOrder = keyOrder
        self.seed = seed
        self.lists = max(lists, 1)
    }

    /// The filter that finds the rows of one list.
    public func filter(_ list: Int) -> RowFilter { RowFilter(list: Self.name(ofList: list)) }

    /// The id of a row.
    public func id(_ index: Int) -> RowID {
        var random = SplitMix64(seed: seed ^ UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
        switch keyOrder {
        case .random: return .string(Self.uuid(random.next(), random.next(), version: 4))
        case .sequential: return .string(String(format: "%012ld", index))
        case .uuid7:
            let milliseconds = UInt64(1_700_000_000_000 + index / 8)
            return .string(Self.uuid(milliseconds << 16 | random.next() & 0xFFF, random.next(), version: 7))
        }
    }

    /// A text of row `index` as it is after so many changes.
    public func text(_ index: Int, revision: Int = 0) -> String {
        var random = SplitMix64(seed: seed &+ 1 ^ UInt64(index) &* 0xD1B5_4A32_D192_ED03 ^ UInt64(revision) << 40)
        return Self.text(of: valueSize, &random)
    }

    /// Batches of the rows of a range, each of `size` rows, the last of what is left.
    /// - Parameter asRows: Whether they also have `Row` values.
    public func batches(_ range: Range<Int>, of size: Int, asRows: Bool = false) throws -> [RowBatch] {
        try stride(from: range.lowerBound, to: range.upperBound, by: size).map { start in
            try batch(Array(start..<min(start + size, range.upperBound)), asRows: asRows)
        }
    }

    /// A batch of these rows, in this order.
    public func batch(_ indexes: [Int], asRows: Bool = false) throws -> RowBatch {
        let shape = table.schema.makeShape()
        var packed = PackedRows(shape: shape)
        var rows: [Row] = []
        for index in indexes {
            let values = values(index)
            packed.beginRow()
            packed.setID(id(index))
            for (column, value) in values.enumerated() { packed.set(value, at: column) }
            try packed.endRow()
            if asRows { rows.append(row(id(index), values, shape)) }
        }
        return RowBatch(packed, rows: rows)
    }

    private func row(_ id: RowID, _ values: [Value], _ shape: RowShape) -> Row {
        zip(shape.columns, values).reduce(into: Row(id: id)) { $0[$1.0.name] = $1.1 }
    }

    /// The values of a row, in the order of the table's columns.
    public func values(_ index: Int) -> [Value] {
        var random = SplitMix64(seed: seed &+ 2 ^ UInt64(index) &* 0xA076_1D64_78BD_642F)
        // Half of all instants of a century, in milliseconds as the services have them.
        let due = Int64(random.next() % 3_155_760_000_000) * Timestamp.ticksPerMillisecond
        var values: [Value] = [
            .string(text(index)), .string(Self.name(ofList: Int(random.next() % UInt64(lists)))),
            .int(Int64(random.next() >> 1)), .bool(random.next() & 1 == 0),
            .double(Double(random.next() % 1_000_000) / 100), Timestamp(ticks: due).map { .timestamp($0) } ?? .null,
            random.next() % 4 == 0 ? .null : .string(Self.text(of: 24, &random)),
            .string("owner-\(random.next() % 1_000)"),
        ]
        for _ in values.count..<table.schema.columns.count { values.append(.string(Self.text(of: valueSize, &random))) }
        let updated = Int64(1_700_000_000_000 + index) * Timestamp.ticksPerMillisecond
        values += [Timestamp(ticks: updated).map { .timestamp($0) } ?? .null, .string(String(index, radix: 36))]
        return values
    }

    private static func name(ofList list: Int) -> String { String(format: "list-%05ld", list) }

    /// Words of letters: what stands in it does not matter to a store, only how long it is.
    private static func text(of size: Int, _ random: inout SplitMix64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        while bytes.count < size {
            var word = random.next()
            for _ in 0..<min(8, size - bytes.count) {
                bytes.append(word & 0x1F < 26 ? UInt8(97 + word & 0x1F) : 32)
                word >>= 8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func uuid(_ high: UInt64, _ low: UInt64, version: UInt64) -> String {
        let high = high & ~0xF000 | version << 12
        let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = String(format: "%016lx%016lx", Int(bitPattern: UInt(high)), Int(bitPattern: UInt(low)))
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
