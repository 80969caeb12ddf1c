#if Commands
public import TidelineStore
internal import TidelineSupport

/// Generates the rows of a run. Row `n` is always the same, so rows need not be kept in memory.
public struct RowSource: Sendable {
    /// The table of the rows.
    public let table: BenchmarkTable
    /// The size in bytes of `text`, and of each column after the first ten.
    public let valueSize: Int
    /// The order of the identifiers.
    public let keyOrder: KeyOrder
    /// The seed of the generator.
    public let seed: UInt64
    /// The number of lists that the rows are distributed over, uniformly at random.
    public let lists: Int

    private let shape: RowShape

    /// Creates a source of rows.
    public init(table: BenchmarkTable, valueSize: Int = 32, keyOrder: KeyOrder = .random, seed: UInt64, lists: Int) {
        self.table = table
        self.valueSize = valueSize
        self.keyOrder = keyOrder
        self.seed = seed
        self.lists = max(lists, 1)
        shape = table.schema.makeShape()
    }

    /// The filter that matches the rows of a list.
    public func filter(_ list: Int) -> RowFilter { RowFilter(list: Self.name(ofList: list)) }

    /// The list of a row.
    public func list(of index: Int) -> Int {
        var random = random(index, 1)
        return Int(random.next() % UInt64(lists))
    }

    /// The identifier of a row.
    public func id(_ index: Int) -> RowID {
        var random = random(index, 2)
        switch keyOrder {
        case .random: return .string(RowText.uuid(random.next(), random.next(), version: 4))
        case .sequential: return .string(RowText.number(index, digits: 12))
        case .uuid7:
            // Eight rows share a millisecond; the twelve bits after it are random.
            let milliseconds = UInt64(1_700_000_000_000 + index / 8)
            return .string(RowText.uuid(milliseconds << 16 | random.next() & 0xFFF, random.next(), version: 7))
        }
    }

    /// The text of a row after a number of changes.
    public func text(_ index: Int, revision: Int = 0) -> String { text(index, revision: revision, size: valueSize) }

    /// The text of a row after a number of changes, of the given size.
    func text(_ index: Int, revision: Int = 0, size: Int) -> String {
        var random = random(index, 3 + UInt64(revision))
        return RowText.words(size, &random)
    }

    /// The values of a row, in the order of the table's columns.
    public func values(_ index: Int) -> [Value] { values(index, text: text(index)) }

    /// The values of a row with another text.
    func values(_ index: Int, text: String) -> [Value] {
        var random = random(index, 0)
        // A date within a century after 1970, to the millisecond as services store them.
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

    /// A random generator for one aspect of a row.
    private func random(_ index: Int, _ aspect: UInt64) -> SplitMix64 {
        var start = SplitMix64(seed: seed ^ UInt64(index) &* 0xD1B5_4A32_D192_ED03)
        return SplitMix64(seed: start.next() ^ aspect &* 0xA076_1D64_78BD_642F)
    }

    private static func name(ofList list: Int) -> String { "list-" + RowText.number(list, digits: 5) }
}

// MARK: - Batches

extension RowSource {
    /// Returns batches of at most `size` rows of a range.
    /// - Parameter asRows: Whether the batches also contain `Row` values.
    public func batches(_ range: Range<Int>, of size: Int, asRows: Bool = false) throws -> [RowBatch] {
        try batches(Array(range), of: size, asRows: asRows)
    }

    /// Returns batches of at most `size` rows, in the order of the indexes.
    /// - Parameters:
    ///   - asRows: Whether the batches also contain `Row` values.
    ///   - asRecords: Whether they also contain records, if these have all columns.
    ///   - text: Returns the text of a row; `nil` for the text of the source.
    func batches(
        _ indexes: [Int], of size: Int, asRows: Bool = false, asRecords: Bool = false, text: ((Int) -> String)? = nil
    ) throws -> [RowBatch] {
        try indexes.indices.parts(of: size).map { part in
            try batch(Array(indexes[part]), asRows: asRows, asRecords: asRecords, text: text)
        }
    }

    /// Returns a batch of rows, in the order of the indexes.
    public func batch(_ indexes: [Int], asRows: Bool = false) throws -> RowBatch {
        try batch(indexes, asRows: asRows, text: nil)
    }

    /// Returns batches of at most `size` rows of a range, which also contain records if these have all columns.
    package func recordBatches(_ range: Range<Int>, of size: Int) throws -> [RowBatch] {
        try batches(Array(range), of: size, asRecords: true)
    }

    /// Returns batches of rows as an app creates them: without values of the server.
    func newBatches(_ range: Range<Int>, of size: Int) throws -> [RowBatch] {
        try range.parts(of: size).map { part in
            var packed = PackedRows(shape: shape)
            for index in part {
                let values = values(index)
                packed.beginRow()
                packed.setID(id(index))
                for column in 0..<shape.count {
                    packed.set(column < table.schema.columns.count ? values[column] : .null, at: column)
                }
                try packed.endRow()
            }
            return RowBatch(packed, indexes: Array(part), rows: part.map(newRow))
        }
    }

    /// Returns a row as an app creates it.
    func newRow(_ index: Int) -> Row {
        zip(table.schema.columns, values(index)).reduce(into: Row(id: id(index))) { $0[$1.0.name] = $1.1 }
    }

    private func batch(
        _ indexes: [Int], asRows: Bool, asRecords: Bool = false, text: ((Int) -> String)?
    ) throws -> RowBatch {
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
        var records: [BenchmarkItem] = []
        if asRecords, table.hasRecord { try packed.forEachRow { records.append(try $0.record()) } }
        return RowBatch(packed, indexes: indexes, rows: rows, records: records)
    }

    private func row(_ id: RowID, _ values: [Value]) -> Row {
        zip(shape.columns, values).reduce(into: Row(id: id)) { $0[$1.0.name] = $1.1 }
    }
}

extension Range<Int> {
    /// Returns the range in parts of at most `size` numbers, in order.
    func parts(of size: Int) -> [Range<Int>] {
        stride(from: lowerBound, to: upperBound, by: size).map { $0..<Swift.min($0 + size, upperBound) }
    }
}

/// The order of the identifiers of new rows.
public enum KeyOrder: String, Sendable, Codable, CaseIterable {
    /// UUIDs of version 4, in random order.
    case random
    /// Decimal numbers with leading zeros, in ascending order.
    case sequential
    /// UUIDs of version 7, in order of time; the eight of a millisecond are in random order.
    case uuid7
}

/// The rows of one transaction, made before the measurement starts.
public final class RowBatch: Sendable {
    /// The packed rows.
    public let packed: PackedRows
    /// The index of each row in its ``RowSource``; empty if the rows have no source.
    public let indexes: [Int]
    /// The rows as `Row` values; empty if no work needs them.
    public let rows: [Row]
    /// The rows as records; empty if no work needs them, or if the records lack columns of the table.
    let records: [BenchmarkItem]

    /// Creates a batch of packed rows.
    public convenience init(_ packed: consuming PackedRows, indexes: [Int] = [], rows: [Row] = []) {
        self.init(packed, indexes: indexes, rows: rows, records: [])
    }

    fileprivate init(_ packed: consuming PackedRows, indexes: [Int], rows: [Row], records: [BenchmarkItem]) {
        self.packed = packed
        self.indexes = indexes
        self.rows = rows
        self.records = records
    }
}

/// Generates texts directly in the string's storage, as a run needs tens of millions.
enum RowText {
    /// Random letters and spaces: stores depend on the length of a text, not on its content.
    static func words(_ size: Int, _ random: inout SplitMix64) -> String {
        String(unsafeUninitializedCapacity: size) { bytes in
            var word: UInt64 = 0
            for position in 0..<size {
                word = position % 8 == 0 ? random.next() : word >> 8
                let letter = UInt8(truncatingIfNeeded: word & 0x1F)
                bytes[position] = letter < 26 ? UInt8(ascii: "a") + letter : UInt8(ascii: " ")
            }
            return size
        }
    }

    /// A decimal number, padded with zeros.
    static func number(_ number: Int, digits: Int) -> String {
        let text = String(number)
        return text.utf8.count < digits ? String(repeating: "0", count: digits - text.utf8.count) + text : text
    }

    /// A UUID from 128 bits, with the bits of its version and variant replaced.
    static func uuid(_ high: UInt64, _ low: UInt64, version: UInt64) -> String {
        let high = high & ~0xF000 | version << 12
        let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { bytes in
            var position = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    bytes[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = digit < 16 ? high : low
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - digit % 16 * 4) & 0xF)
                bytes[position] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
                position += 1
            }
            return position
        }
    }
}
#endif
