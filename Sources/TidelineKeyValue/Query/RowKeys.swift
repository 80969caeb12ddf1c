internal import TidelineStore

/// The keys of rows in one buffer.
struct RowKeys {
    private let table: StoredTable
    private var key: KeyBuilder
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// Creates an empty list of keys of the table's rows.
    init(of table: StoredTable) {
        self.table = table
        key = KeyBuilder(table.rows)
    }

    /// Adds the key of a row.
    mutating func append(_ row: borrowing RowView) {
        key.truncate(to: KeySpace.length)
        unsafe row.withIDBytes { unsafe key.append(id: $0, of: table.ids) }
        bytes.append(contentsOf: key.bytes)
        ends.append(bytes.count)
    }

    /// Calls `body` with each key, in the order in which the keys were added.
    func forEachKey(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try unsafe bytes.withUnsafeBytes { bytes in
            var start = 0
            for end in ends {
                try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
    }
}
