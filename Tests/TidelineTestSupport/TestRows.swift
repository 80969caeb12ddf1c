public import TidelineStore

/// A row whose content is derived from its number, for tables that do not fit in memory.
public struct NumberedRow: Sendable {
    /// The position in the order of `updatedAt`, from 0.
    public let number: Int

    /// Makes the row with the given number.
    public init(_ number: Int) { self.number = number }

    /// The schema of the table.
    public static let schema = TableSchema(
        "items", columns: [.int("number"), .string("text")], systemColumns: [.updatedAt, .version])

    /// The unique identifier. Consecutive rows have identifiers that are far apart.
    public var id: String {
        let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The content of the text column.
    public var text: String { "row \(number) " + String(repeating: id, count: 10) }

    /// The time of the last change: one second after that of the previous row.
    public var updatedAt: Timestamp {
        Timestamp(clampingTicks: Int64(1_700_000_000 + number) * Timestamp.ticksPerSecond)
    }

    /// The version of the row.
    public var version: String { "v\(number)" }

    /// Makes the row with the given `updatedAt`, which is a whole second. The number can be negative.
    public init(updatedAt: Timestamp) {
        number = Int(updatedAt.ticks / Timestamp.ticksPerSecond - 1_700_000_000)
    }

    /// Returns whether a stored row equals this row.
    public func isSame(as row: borrowing RowView) -> Bool {
        row.idText == id && row["number"] == .int(Int64(number)) && row["text"] == .string(text)
            && row["updatedAt"] == .timestamp(updatedAt) && row["version"] == .string(version)
    }
}

/// A table that grows by about a megabyte with each commit, for tests of large files.
public enum GrowingTable {
    /// The number of rows that a commit adds.
    public static let rowsPerCommit = 10

    /// The definition.
    public static let schema = TableSchema("Growing", columns: [.int("number"), .bytes("content")], systemColumns: [])

    /// Adds the rows of the commit with the given number.
    ///
    /// - Parameter length: The number of bytes in each row.
    public static func add(_ number: Int, length: Int = 100_000, to writer: some StoreWriter) throws {
        let content = Value.bytes([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length))
        let rows = (0..<rowsPerCommit).map { index -> Row in
            ["id": .string("\(number)-\(index)"), "number": .int(Int64(number)), "content": content]
        }
        try writer.upsert(rows, into: schema.name)
    }
}

extension PackedRows {
    /// Packs rows.
    public init(_ rows: [Row], of schema: TableSchema) throws {
        self.init(shape: schema.makeShape())
        for row in rows { try append(row) }
    }
}
