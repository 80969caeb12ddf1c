public import TidelineStore

/// A row of a table too large to be held in memory: all of it follows from its number.
public struct NumberedRow: Sendable {
    /// Its place in the order of `updatedAt`, from 0.
    public let number: Int

    /// The row of a number.
    public init(_ number: Int) { self.number = number }

    /// The table's definition.
    public static let schema = TableSchema(
        "items", columns: [.int("number"), .string("text")], systemColumns: [.updatedAt, .version])

    /// The id: those of rows that follow each other lie far apart, and no two are the same.
    public var id: String {
        let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A text of some length.
    public var text: String { "row \(number) " + String(repeating: id, count: 10) }

    /// The instant of its last change: a second after that of the row before.
    public var updatedAt: Timestamp {
        Timestamp(clampingTicks: Int64(1_700_000_000 + number) * Timestamp.ticksPerSecond)
    }

    /// The version.
    public var version: String { "v\(number)" }

    /// The row that was last changed at that instant, a whole second; its number may be below 0.
    public init(updatedAt: Timestamp) {
        number = Int(updatedAt.ticks / Timestamp.ticksPerSecond - 1_700_000_000)
    }

    /// Whether a row as it is stored is this one.
    public func isSame(as row: borrowing RowView) -> Bool {
        row.id == id && row["number"] == .int(Int64(number)) && row["text"] == .string(text)
            && row["updatedAt"] == .timestamp(updatedAt) && row["version"] == .string(version)
    }
}
