import TidelineStore
import TidelineTestSupport

@testable import TidelineKeyValue

extension StoredTable {
    /// Creates a table as a new store would keep it.
    convenience init(testing schema: TableSchema) {
        let indexes = schema.indexes.enumerated().map { number, index in
            StoredDefinition.Index(columns: index.columns, space: KeySpace(number: UInt32(20 + number)))
        }
        self.init(
            StoredDefinition(
                schema: schema, retired: [], layouts: [schema.allColumns], rows: KeySpace(number: 10), indexes: indexes)
        )
    }
}

/// A table with rows and index entries, for queries.
struct QueryFixture {
    let table: StoredTable
    let entries = SortedEntries()
    let map: KeyStoreMap<SortedEntries>
    let rowCount: Int

    /// - Parameter maximumKeyLength: The length above which keys become overflow keys.
    init(_ schema: TableSchema, _ rows: borrowing PackedRows, maximumKeyLength: Int = .max) throws {
        table = StoredTable(testing: schema)
        map = KeyStoreMap(entries, OverflowKey(maximum: maximumKeyLength))
        rowCount = rows.count
        for position in 0..<rows.count { try rows.withRow(at: position) { try store($0) } }
    }

    init(_ schema: TableSchema, _ rows: [Row], maximumKeyLength: Int = .max) throws {
        try self.init(schema, PackedRows(rows, of: schema), maximumKeyLength: maximumKeyLength)
    }

    private func store(_ row: borrowing RowView) throws {
        var value = PackedRows(shape: table.shape)
        value.beginRow()
        for index in 0..<table.shape.count { value.set(row.value(at: index) ?? .null, at: index) }
        value.setID(row.id)
        try value.endRow()
        var bytes = value.withRow(at: 0) { $0.withPackedBytes { Array($0) } }
        let key = rowKey(row.id)
        let id = row.withIDBytes { Array($0) }
        if table.ids == .folded, Array(key.dropFirst(KeySpace.length)) != id { bytes += id }
        try put(key, bytes)
        for index in table.indexes {
            var key = KeyBuilder(index.space)
            for position in index.positions {
                if let position {
                    key.append(column: position, of: row)
                } else {
                    id.withUnsafeBytes { key.append(idComponent: $0, of: table.ids) }
                }
            }
            id.withUnsafeBytes { key.append(id: $0, of: table.ids) }
            try put(key.bytes, [])
        }
    }

    func rowKey(_ id: RowID) -> [UInt8] {
        var key = KeyBuilder(table.rows)
        _ = key.append(id: id, of: table.ids)
        return key.bytes
    }

    func put(_ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try map.put(key, $0) } }
    }

    func delete(_ key: [UInt8]) throws { _ = try key.withUnsafeBytes { try map.delete($0) } }

    func run(_ query: TableQuery, isWriting: Bool = false) throws -> QueryRun {
        try QueryRun(query, table: table, keys: map, isWriting: isWriting, lookup: nil)
    }

    /// Scans as a store does, which knows its number of rows.
    func scan(
        _ query: TableQuery, isWriting: Bool = false, _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> Int? {
        try run(query, isWriting: isWriting).scan(rowCount: { rowCount }, body)
    }

    /// Returns the complete result.
    func result(of query: TableQuery, isWriting: Bool = false) throws -> QueryResult {
        var rows: [Row] = []
        let total = try scan(query, isWriting: isWriting) { row in
            rows.append(row.owned())
            return .next
        }
        return QueryResult(rows: rows, totalCount: total)
    }

    func count(_ query: TableQuery) throws -> Int { try run(query).count(rowCount: { rowCount }) }
}
