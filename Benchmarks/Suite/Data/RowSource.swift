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
