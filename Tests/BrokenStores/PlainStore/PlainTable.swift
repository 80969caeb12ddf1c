internal import TidelineStore

/// The rows of a table and its indexes.
struct PlainTable: Sendable {
    private(set) var layout: TableLayout
    var rows = SortedMap<PlainRow>()
    var indexes: [PlainIndex] = []
    /// Deleted rows, if a flawed store keeps them.
    private(set) var buried: [[UInt8]: PlainRow] = [:]
    let flaw: Flaw?

    init(_ layout: TableLayout, flaw: Flaw?) {
        self.layout = layout
        self.flaw = flaw
        indexes = layout.schema.indexes.map { PlainIndex(columns: $0.columns, flaw: flaw) }
    }

    func key(of id: RowID) -> [UInt8] { layout.key(of: id, flaw: flaw) }

    /// Stores a row and replaces an existing row with its key.
    mutating func put(_ row: PlainRow) {
        let key = key(of: row.id)
        let old = rows[key]
        rows[key] = row
        for index in indexes.indices {
            if flaw == .indexesBeyondEightNotKept, index >= 8, old != nil { continue }
            if let old, flaw != .indexKeepsOldValues { indexes[index].remove(old, key, layout) }
            if old == nil || flaw != .indexMissesUpdates { indexes[index].insert(row, key, layout) }
        }
    }

    /// Removes the row with a key and returns it.
    mutating func remove(_ key: [UInt8]) -> PlainRow? {
        guard let old = rows[key] else { return nil }
        rows[key] = nil
        if flaw == .deletedRowComesBack || flaw == .deletedSpellingKept { buried[key] = old }
        guard flaw != .indexKeepsDeletedRows else { return old }
        for index in indexes.indices { indexes[index].remove(old, key, layout) }
        return old
    }

    /// Applies a new definition: new columns are null in the existing rows, and new indexes are filled from them.
    mutating func evolve(to layout: TableLayout) {
        let old = self.layout
        self.layout = layout
        if let flaw { flaw.evolve(&rows, from: old, to: layout) }
        indexes = layout.schema.indexes.map { schema in
            if let known = indexes.first(where: { $0.columns == schema.columns }) { return known }
            var index = PlainIndex(columns: schema.columns, flaw: flaw)
            if flaw != .indexNotFilled {
                for entry in rows.entries { index.insert(entry.element, entry.key, layout) }
            }
            return index
        }
    }
}

/// An index: for each row, a key of the columns' values and the row's key.
struct PlainIndex: Sendable {
    let columns: [String]
    let flaw: Flaw?
    private(set) var entries = SortedMap<[UInt8]>()

    init(columns: [String], flaw: Flaw?) {
        self.columns = columns
        self.flaw = flaw
    }

    mutating func insert(_ row: PlainRow, _ rowKey: [UInt8], _ layout: TableLayout) {
        if let key = entryKey(row, rowKey, layout) { entries[key] = rowKey }
    }

    mutating func remove(_ row: PlainRow, _ rowKey: [UInt8], _ layout: TableLayout) {
        if let key = entryKey(row, rowKey, layout) { entries[key] = nil }
    }

    mutating func removeAll() { entries = SortedMap() }

    private func entryKey(_ row: PlainRow, _ rowKey: [UInt8], _ layout: TableLayout) -> [UInt8]? {
        var key = KeyBytes(flaw: flaw)
        for column in columns {
            let value =
                layout.position(of: column).map { row.value(at: $0) } ?? layout.comparable(row.id, flaw: nil)
            if value.isNull, flaw == .indexLeavesOutNulls { return nil }
            key.append(value)
        }
        return key.bytes + rowKey
    }
}

/// Properties derived once from a table's definition.
final class TableLayout: Sendable {
    let schema: TableSchema
    /// The stored columns, by position, including columns that the definition no longer contains.
    let stored: [ColumnSchema]
    /// The positions at which the columns of the definition are stored, in the order of the definition.
    let positions: [Int]
    let shape: RowShape
    let storedShape: RowShape
    let evaluator: Evaluator

    init(_ schema: TableSchema, stored: [ColumnSchema]) {
        self.schema = schema
        self.stored = stored
        shape = schema.makeShape()
        storedShape = RowShape(table: schema.name, idType: schema.idType, columns: stored)
        evaluator = Evaluator(schema: schema)
        positions = schema.allColumns.map { column in
            stored.firstIndex { $0.name == column.name } ?? 0
        }
    }

    /// Returns the position of a column, or `nil` if the definition does not contain it.
    func position(of column: String) -> Int? { shape.index(of: column).map { positions[$0] } }

    var foldsIDs: Bool { schema.idType == .string && schema.idMatching == .asciiCaseInsensitive }

    /// Returns the value by which an id is compared.
    func comparable(_ id: RowID, flaw: Flaw?) -> Value {
        let value = flaw?.key(of: id, in: self) ?? id.value
        guard foldsIDs, case .string(let text) = value else { return value }
        return .string(text.asciiLowercased)
    }

    /// Returns the key of the row with an id.
    func key(of id: RowID, flaw: Flaw?) -> [UInt8] {
        var key = KeyBytes()
        key.append(comparable(id, flaw: flaw))
        return key.bytes
    }
}

/// A row: its original id and a value for each stored column.
struct PlainRow: Sendable {
    var id: RowID
    var values: [Value]

    func value(at position: Int) -> Value { position < values.count ? values[position] : .null }
}

extension PackedRows {
    /// Adds a row with its columns taken from these positions.
    mutating func append(_ row: PlainRow, positions: [Int]) throws(StoreError) {
        beginRow()
        for (index, position) in positions.enumerated() { set(row.value(at: position), at: index) }
        setID(row.id)
        try endRow()
    }
}
