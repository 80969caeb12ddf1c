internal import TidelineStore

/// One upsert of a batch: checks each row, stores it or merges it into the one there is, and keeps the indexes.
///
/// A row that names every column is stored where it lies in the batch, without a copy; see ``RowCursor`` for the format.
/// A class for the reason that ``KeyMap`` is one.
final class Upsert<Transaction: KeyValueTransaction> {
    private let map: KeyMap<Transaction>
    private let table: StoredTable
    private let batch: BatchColumns
    private var key: KeyBuilder
    private var builder: RowBuilder
    private var entries: IndexEntries
    /// How many rows were new.
    private(set) var insertedCount = 0

    init(into table: StoredTable, of shape: RowShape, in map: KeyMap<Transaction>) throws(StoreError) {
        self.map = map
        self.table = table
        batch = try BatchColumns(of: shape, in: table)
        key = KeyBuilder(table.rows)
        builder = RowBuilder(table)
        entries = IndexEntries(of: table)
    }

    func run(_ row: borrowing RowView) throws {
        let named = try batch.check(row)
        key.begin(table.rows)
        row.withIDBytes { key.append(id: $0, of: table.ids) }
        let bytes = key.bytes
        try bytes.withUnsafeBytes { key in
            let isSpelled =
                table.ids == .folded
                && row.withIDBytes { $0.compare(UnsafeRawBufferPointer(rebasing: key[KeySpace.length...])) != 0 }
            if named.isWhole, let value = batch.stored(row, withID: isSpelled) {
                try store(row, value, key: key)
            } else {
                try lay(row, isSpelled: isSpelled, missing: named.missing, key: key)
            }
        }
    }

    /// Stores a row that names every column.
    private func store(
        _ row: borrowing RowView, _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws {
        switch try insert(row, value, key: key) {
        case nil: try insertEntries(key: key, value: value)
        case .replacement:
            try map.put(key, value)
            try replaceEntries(key: key, value: value)
        case .built: try putBuilt(key: key)
        }
    }

    private func insert(
        _ row: borrowing RowView, _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws -> Merged? {
        // A closure cannot capture what is borrowed; what it finds is copied only where it has to be merged.
        var old: [UInt8]?
        let found = try map.insert(key, value) { existing -> Merged in
            if entries.areKept { try entries.noteOld(key: key, value: existing) }
            if RowFormat.hasSameTail(existing, value) { return .replacement }
            old = Array(existing)
            return .built
        }
        if let old { try old.withUnsafeBytes { try merge(row, into: $0, key: key) } }
        return found
    }

    /// Stores a row that names some columns only.
    private func lay(
        _ row: borrowing RowView, isSpelled: Bool, missing: String?, key: UnsafeRawBufferPointer
    ) throws {
        if let old = try map.get(key, { Array($0) }) {
            try old.withUnsafeBytes { old in
                if entries.areKept { try entries.noteOld(key: key, value: old) }
                try merge(row, into: old, key: key)
            }
            return try putBuilt(key: key)
        }
        if let missing { throw batch.invalid("a new row must name this column", missing, row) }
        try row.withIDBytes { try builder.build(row, batch, spelledID: isSpelled ? $0 : nil) }
        let built = builder.bytes
        try built.withUnsafeBytes { value in
            try map.put(key, value)
            try insertEntries(key: key, value: value)
        }
    }

    /// Lays a row over the one there is, under the id as it was spelled first.
    private func merge(
        _ row: borrowing RowView, into existing: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws {
        guard let stored = StoredRow(key: key, value: existing, ids: table.ids, integer: nil),
            stored.layout < table.layouts.count
        else { throw RowCursor.damaged(table, key) }
        let layout = table.layouts[stored.layout]
        var old = RowView(shape: layout.shape)
        do {
            try old.point(atID: stored.id, validating: stored.row)
        } catch {
            throw RowCursor.damaged(table, key)
        }
        try builder.merge(row, batch, over: old, layout, spelledID: stored.spelledID)
    }

    private func putBuilt(key: UnsafeRawBufferPointer) throws {
        let built = builder.bytes
        try built.withUnsafeBytes { value in
            try map.put(key, value)
            try replaceEntries(key: key, value: value)
        }
    }

    // MARK: Indexes

    private func insertEntries(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws {
        insertedCount += 1
        guard entries.areKept else { return }
        try entries.noteNew(key: key, value: value)
        try entries.insert(into: map)
    }

    private func replaceEntries(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws {
        guard entries.areKept else { return }
        try entries.noteNew(key: key, value: value)
        try entries.replace(in: map, ofRowAt: key)
    }
}

/// What a row became together with the one there was.
private enum Merged {
    /// It takes the other's place as it is.
    case replacement
    /// It was put together by the builder.
    case built
}
