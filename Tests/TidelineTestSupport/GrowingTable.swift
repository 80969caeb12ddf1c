public import TidelineStore

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
