internal import TidelineStore

/// The upsert of one batch: checks each row, inserts or merges it, and updates the indexes.
///
/// A row that contains every column is stored from the batch without a copy; see ``RowCursor`` for the format.
struct Upsert: ~Copyable {
    private let store: any KeyStore
    private let remembersKeys: Bool
    private let table: StoredTable
    private let batch: BatchColumns
    private var key: RowKey
    private var builder: StoredRowBuilder
    private let entries: IndexEntries?
    /// The number of inserted rows.
    private(set) var insertedCount = 0

    /// - Parameter entries: The object that maintains the table's indexes, or `nil` if there are none.
    init(
        into table: StoredTable, of shape: RowShape, _ entries: IndexEntries?, in store: any KeyStore
    ) throws(StoreError) {
        self.store = store
        remembersKeys = store.remembersKeys
        self.table = table
        batch = try BatchColumns(of: shape, in: table)
        key = RowKey(of: table)
        builder = StoredRowBuilder(table)
        self.entries = entries
    }

    mutating func run(_ row: borrowing RowView) throws {
        guard let bytes = RowBytes(row) else {
            throw StoreError(.corrupt, "the packed row is malformed", table: table.name)
        }
        let isWhole = try batch.check(row, bytes)
        guard let key = unsafe row.withIDBytes({ unsafe key.set(id: $0, of: table.ids) }) else {
            throw batch.invalidID(row)
        }
        let preservesCase =
            unsafe table.ids == .folded
            && row.withIDBytes { unsafe $0.compare(UnsafeRawBufferPointer(rebasing: key[KeySpace.length...])) != 0 }
        if isWhole, let value = unsafe batch.stored(row, bytes.header, withID: preservesCase) {
            // A row that is known to exist and is replaced completely, with the same form of its identifier, needs no
            // lookup. Index entries, however, are made from the old row.
            if remembersKeys, !preservesCase, entries == nil, unsafe store.remembers(key) {
                return try unsafe store.put(key, value)
            }
            try unsafe put(row, value, key: key)
        } else {
            try unsafe mergePartial(row, preservesCase: preservesCase, key: key)
        }
    }

    /// Stores a row that contains every column.
    private mutating func put(
        _ row: borrowing RowView, _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws {
        // A closure cannot capture a borrowed value. The existing row is copied only if it has to be merged.
        var old: [UInt8]?
        let isNew = try unsafe store.put(key, value) { existing in
            if let entries {
                try unsafe entries.noteOld(key: key, value: existing)
            } else if remembersKeys {
                unsafe store.rememberRow(key, existing)
            }
            if unsafe RowHeader.hasSameTail(existing, value) { return true }
            old = unsafe Array(existing)
            return false
        }
        if isNew { return try unsafe insertEntries(key: key, value: value) }
        guard let old else { return try unsafe replaceEntries(key: key, value: value) }
        try unsafe old.withUnsafeBytes { try unsafe merge(row, into: $0, key: key) }
        try unsafe putBuilt(key: key)
    }

    /// Stores a row that lacks some columns.
    private mutating func mergePartial(
        _ row: borrowing RowView, preservesCase: Bool, key: UnsafeRawBufferPointer
    ) throws {
        if let old = try unsafe store.get(key, { unsafe Array($0) }) {
            try unsafe old.withUnsafeBytes { old in
                try unsafe entries?.noteOld(key: key, value: old)
                try unsafe merge(row, into: old, key: key)
            }
            return try unsafe putBuilt(key: key)
        }
        if let missing = batch.missing(in: row) {
            throw batch.invalid("a new row must have a value for this column", missing, row)
        }
        try unsafe row.withIDBytes { try unsafe builder.build(row, batch, originalID: preservesCase ? $0 : nil) }
        let built = builder.bytes
        try unsafe built.withUnsafeBytes { value in
            try unsafe store.put(key, value)
            try unsafe insertEntries(key: key, value: value)
        }
    }

    /// Merges a row into the existing one, keeping the original form of the identifier.
    private mutating func merge(
        _ row: borrowing RowView, into existing: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws {
        guard let stored = unsafe StoredRow(key: key, value: existing, ids: table.ids, integer: nil),
            stored.header.layout < table.layouts.count
        else { throw unsafe RowCursor.damaged(table, key) }
        let layout = table.layouts[stored.header.layout]
        var old = RowView(shape: layout.shape)
        do {
            try unsafe old.point(atID: stored.id, validating: stored.row)
        } catch {
            throw unsafe RowCursor.damaged(table, key)
        }
        try unsafe builder.merge(row, batch, over: old, layout, originalID: stored.originalID)
    }

    private mutating func putBuilt(key: UnsafeRawBufferPointer) throws {
        let built = builder.bytes
        try unsafe built.withUnsafeBytes { value in
            try unsafe store.put(key, value)
            try unsafe replaceEntries(key: key, value: value)
        }
    }

    // MARK: Indexes

    private mutating func insertEntries(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws {
        insertedCount += 1
        try unsafe entries?.noteNew(key: key, value: value)
        try entries?.insert(into: store)
    }

    private mutating func replaceEntries(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws {
        try unsafe entries?.noteNew(key: key, value: value)
        try unsafe entries?.replace(in: store, ofRowAt: key)
    }
}
