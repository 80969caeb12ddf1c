internal import TidelineStore

/// Sorts rows into a query's order, keeping all of them or only the first rows if the query has a limit.
///
/// The order terms of a row are encoded as the bytes of a sort key, so one comparison of bytes is sufficient. The kept
/// rows are in one buffer. A row that is not among the first is never copied.
struct RowSorter: ~Copyable {
    private let query: TableQuery
    private let table: StoredTable
    private let projection: RowProjection?
    private let terms: [(column: ColumnReference, isDescending: Bool)]
    private let capacity: Int?
    private let maximumBytes: Int
    private var key = KeyBuilder()
    private var rows: PackedRows
    private var keys: [UInt8] = []
    /// The kept rows; a heap with the last row of the order on top once the limit is reached.
    private var entries: [Entry] = []
    /// The first term, if its values are numbers.
    private let number: NumericSortKey?
    /// The first component of the row on top, once the limit is reached.
    private var bound: NumericSortKey.Place?

    /// A kept row and its key.
    private struct Entry {
        /// The first eight bytes of the key, which decide most comparisons.
        var start: UInt64
        var keyOffset: Int
        var keyCount: Int
        var row: Int

        func key(in keys: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            unsafe UnsafeRawBufferPointer(rebasing: keys[keyOffset..<keyOffset + keyCount])
        }
    }

    /// The maximum size in bytes of the kept rows and keys for a query with a time limit.
    private static let limit = 256 << 20

    /// - Parameter isLimited: Whether the memory is limited, for a query of others.
    init(_ query: TableQuery, table: StoredTable, projection: RowProjection?, isLimited: Bool) {
        maximumBytes = isLimited ? Self.limit : .max
        self.query = query
        self.table = table
        self.projection = projection
        terms = query.order.compactMap { term in
            ColumnReference(term.column, in: table.evaluator).map { ($0, term.isDescending) }
        }
        number = terms.first.flatMap { NumericSortKey($0.column, isDescending: $0.isDescending) }
        capacity = query.windowEnd
        rows = PackedRows(shape: projection?.shape ?? table.shape)
    }

    /// Whether a row is beyond the limit according to its first term.
    @inline(__always)
    func isBeyondLimit(_ row: RowBytes) throws(RowDamage) -> Bool {
        guard let bound, let number else { return false }
        return bound < (try number.place(of: row))
    }

    /// Keeps the row unless it is beyond the limit.
    mutating func add(_ row: borrowing RowView) throws {
        makeKey(ofTermsOf: row)
        guard let capacity, entries.count == capacity else {
            addID(of: row)
            entries.append(try hold(row))
            if entries.count == capacity {
                orderHeap()
                noteBound()
            }
            return
        }
        // The terms show for most rows that they are beyond the limit, so the identifier need not be added.
        guard orderToTop(termsOnly: true) <= 0 else { return }
        addID(of: row)
        guard orderToTop(termsOnly: false) < 0 else { return }
        entries[0] = try hold(row)
        sink(from: 0)
        noteBound()
        // Removed rows stay in the buffer until they are as many as the kept rows.
        if rows.count > 2 * entries.count + 64 { try compact() }
    }

    /// Calls `body` with the rows of the query's window in order, until it returns ``ScanStep/stop``.
    mutating func forEachSortedRow(_ body: (borrowing RowView) throws -> ScanStep) throws {
        var sorted = entries
        entries = []
        unsafe keys.withUnsafeBytes { keys in sorted.sort { unsafe Self.precedes($0, $1, in: keys) } }
        for entry in sorted.dropFirst(query.skip).prefix(query.limit ?? .max) {
            if case .stop = try rows.withRow(at: entry.row, body) { return }
        }
    }

    // MARK: Keys

    private mutating func makeKey(ofTermsOf row: borrowing RowView) {
        key.begin()
        for (column, isDescending) in terms {
            if let position = column.position {
                key.append(column: position, of: row, descending: isDescending)
            } else {
                unsafe row.withIDBytes { unsafe key.append(idComponent: $0, of: table.ids, descending: isDescending) }
            }
        }
    }

    private mutating func addID(of row: borrowing RowView) {
        unsafe row.withIDBytes { unsafe key.append(id: $0, of: table.ids) }
    }

    private mutating func hold(_ row: borrowing RowView) throws(StoreError) -> Entry {
        try rows.append(row, projection)
        keys += key.bytes
        guard rows.byteCount + keys.count <= maximumBytes else {
            throw StoreError(
                .unsupportedQuery,
                "the query sorts more than \(maximumBytes >> 20) MiB; use a smaller $top or $skip, or an index for the order",
                table: table.name)
        }
        return Entry(
            start: key.start, keyOffset: keys.count - key.bytes.count, keyCount: key.bytes.count, row: rows.count - 1)
    }

    private static func precedes(_ a: Entry, _ b: Entry, in keys: UnsafeRawBufferPointer) -> Bool {
        if a.start != b.start { return a.start < b.start }
        return unsafe a.key(in: keys).compare(b.key(in: keys)) < 0
    }

    /// Returns the order of the current key relative to that on top, which is the last of the kept rows.
    ///
    /// - Parameter termsOnly: Whether the current key has no identifier yet, so that the identifier of the top key is
    ///   ignored.
    private func orderToTop(termsOnly: Bool) -> Int {
        unsafe key.bytes.withUnsafeBytes { key in
            unsafe keys.withUnsafeBytes { keys in
                let top = unsafe entries[0].key(in: keys)
                return unsafe key.compare(termsOnly ? UnsafeRawBufferPointer(rebasing: top.prefix(key.count)) : top)
            }
        }
    }

    // MARK: Heap

    private mutating func noteBound() {
        guard number != nil, let top = entries.first else { return }
        bound = unsafe keys.withUnsafeBytes { unsafe NumericSortKey.Place(atStartOf: top.key(in: $0)) }
    }

    private mutating func orderHeap() {
        for index in (0..<entries.count / 2).reversed() { sink(from: index) }
    }

    /// Moves an entry down until neither of its children is ordered after it.
    private mutating func sink(from start: Int) {
        var index = start
        while let last = lastChild(of: index), isBefore(index, last) {
            entries.swapAt(index, last)
            index = last
        }
    }

    /// Returns the child of an entry that is last in the order.
    private func lastChild(of index: Int) -> Int? {
        let (left, right) = (2 * index + 1, 2 * index + 2)
        guard left < entries.count else { return nil }
        return right < entries.count && isBefore(left, right) ? right : left
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        unsafe keys.withUnsafeBytes { unsafe Self.precedes(entries[a], entries[b], in: $0) }
    }

    private mutating func compact() throws {
        var rows = PackedRows(shape: rows.shape, byteCapacity: self.rows.byteCount / 2)
        var keys: [UInt8] = []
        for index in entries.indices {
            let entry = entries[index]
            try self.rows.withRow(at: entry.row) { try rows.append(copying: $0) }
            entries[index].row = rows.count - 1
            entries[index].keyOffset = keys.count
            keys += self.keys[entry.keyOffset..<entry.keyOffset + entry.keyCount]
        }
        self.rows = rows
        self.keys = keys
    }
}

extension KeyBuilder {
    /// The first eight bytes as an integer that compares as they do, padded with zeros.
    fileprivate var start: UInt64 {
        unsafe bytes.withUnsafeBytes { bytes in
            guard bytes.count < 8 else { return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
            return unsafe bytes.reduce(0) { $0 << 8 | UInt64($1) } << (8 * (8 - UInt64(bytes.count)))
        }
    }
}
