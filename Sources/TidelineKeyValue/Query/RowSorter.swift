internal import TidelineStore

/// Brings rows into a query's order that do not come in it: all of them, or the first so many when no more are wanted.
///
/// What a row is ordered by is put together as the bytes of a key, so that one comparison of bytes decides. The rows
/// that are held lie in one buffer; a row that is not among the first is never copied.
struct RowSorter: ~Copyable {
    private let query: Query
    private let table: StoredTable
    private let projection: RowProjection?
    private let terms: [(column: ColumnReference, isDescending: Bool)]
    private let capacity: Int?
    private var key = KeyBuilder()
    private var rows: PackedRows
    private var keys: [UInt8] = []
    /// The rows held; a heap with the last of the order on top once there are as many as are wanted.
    private var entries: [Entry] = []
    /// The first term, where its values are numbers.
    private let number: NumberTerm?
    /// What it is of the row on top, once there are as many as are wanted.
    private var bound: NumberTerm.Place?

    /// A row that is held, and its key.
    private struct Entry {
        /// The first eight bytes of the key, which decide most comparisons.
        var start: UInt64
        var keyOffset: Int
        var keyCount: Int
        var row: Int

        func key(in keys: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: keys[keyOffset..<keyOffset + keyCount])
        }
    }

    init(_ query: Query, table: StoredTable, projection: RowProjection?) {
        self.query = query
        self.table = table
        self.projection = projection
        terms = query.order.compactMap { term in
            ColumnReference(term.column, in: table).map { ($0, term.isDescending) }
        }
        number = terms.first.flatMap { NumberTerm($0.column, isDescending: $0.isDescending) }
        capacity = query.windowEnd
        rows = PackedRows(shape: projection?.shape ?? table.shape)
    }

    /// Whether as many rows come before a row as are wanted, as far as its first term tells.
    @inline(__always)
    func isTooLate(_ row: RowBytes) throws(RowDamage) -> Bool {
        guard let bound, let number else { return false }
        return bound < (try number.place(of: row))
    }

    /// Holds the row, unless as many come before it as are wanted.
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
        // Most rows are told by the terms to come too late, which spares the id.
        guard orderToTop(termsOnly: true) <= 0 else { return }
        addID(of: row)
        guard orderToTop(termsOnly: false) < 0 else { return }
        entries[0] = try hold(row)
        sink(from: 0)
        noteBound()
        // Rows that were pushed out stay in the buffer until they are as many as those that are held.
        if rows.count > 2 * entries.count + 64 { try compact() }
    }

    /// Calls `body` with the rows of the query's window in their order, until it returns ``ScanStep/stop``.
    mutating func forEachSortedRow(_ body: (borrowing RowView) throws -> ScanStep) throws {
        var sorted = entries
        entries = []
        keys.withUnsafeBytes { keys in sorted.sort { Self.precedes($0, $1, in: keys) } }
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
                row.withIDBytes { key.append(idComponent: $0, of: table.ids, descending: isDescending) }
            }
        }
    }

    private mutating func addID(of row: borrowing RowView) {
        row.withIDBytes { key.append(id: $0, of: table.ids) }
    }

    private mutating func hold(_ row: borrowing RowView) throws(StoreError) -> Entry {
        try rows.append(row, projection)
        keys += key.bytes
        return Entry(
            start: key.start, keyOffset: keys.count - key.bytes.count, keyCount: key.bytes.count, row: rows.count - 1)
    }

    private static func precedes(_ a: Entry, _ b: Entry, in keys: UnsafeRawBufferPointer) -> Bool {
        if a.start != b.start { return a.start < b.start }
        return a.key(in: keys).compare(b.key(in: keys)) < 0
    }

    /// How the key made lies to that on top, the last of those that are held.
    ///
    /// - Parameter termsOnly: Whether the key has no id yet, so that the top's is left out too.
    private func orderToTop(termsOnly: Bool) -> Int {
        key.bytes.withUnsafeBytes { key in
            keys.withUnsafeBytes { keys in
                let top = entries[0].key(in: keys)
                return key.compare(termsOnly ? UnsafeRawBufferPointer(rebasing: top.prefix(key.count)) : top)
            }
        }
    }

    // MARK: Heap

    private mutating func noteBound() {
        guard number != nil, let top = entries.first else { return }
        bound = keys.withUnsafeBytes { NumberTerm.Place(atStartOf: top.key(in: $0)) }
    }

    private mutating func orderHeap() {
        for index in (0..<entries.count / 2).reversed() { sink(from: index) }
    }

    /// Moves an entry down until neither of those below it comes after it.
    private mutating func sink(from start: Int) {
        var index = start
        while let last = lastChild(of: index), isBefore(index, last) {
            entries.swapAt(index, last)
            index = last
        }
    }

    /// Of the two entries below one, that which comes last.
    private func lastChild(of index: Int) -> Int? {
        let (left, right) = (2 * index + 1, 2 * index + 2)
        guard left < entries.count else { return nil }
        return right < entries.count && isBefore(left, right) ? right : left
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        keys.withUnsafeBytes { Self.precedes(entries[a], entries[b], in: $0) }
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
    /// The first eight bytes as a number that compares as they do; where there are fewer, zeros follow.
    fileprivate var start: UInt64 {
        bytes.withUnsafeBytes { bytes in
            guard bytes.count < 8 else { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
            return bytes.reduce(0) { $0 << 8 | UInt64($1) } << (8 * (8 - UInt64(bytes.count)))
        }
    }
}
