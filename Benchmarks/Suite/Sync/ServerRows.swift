#if Commands
internal import TidelineStore

/// The rows of a run as a table service stores them, with all four system columns.
struct ServerRows: Sendable {
    private let shape: RowShape

    /// Creates rows with the shape of the service's table.
    init(_ shape: RowShape) { self.shape = shape }

    /// The name of the table.
    var name: String { shape.table }

    /// The schema of the service's table for a run's table.
    static func schema(_ table: BenchmarkTable) -> TableSchema {
        TableSchema(table.schema.name, columns: table.schema.columns, systemColumns: .all)
    }

    /// The `updatedAt` of the row at a position. Changed rows have positions after the last row.
    static func updatedAt(_ index: Int) -> Timestamp {
        Timestamp(clampingTicks: Int64(1_700_000_000_000 + index) * Timestamp.ticksPerMillisecond)
    }

    /// Returns a row. A changed row has the `updatedAt` and version of another position, and another text.
    func row(_ index: Int, of source: RowSource, changedAs position: Int? = nil) -> Row {
        var row = Row(id: source.id(index))
        for (column, value) in zip(source.table.schema.makeShape().columns, source.values(index)) {
            row[column.name] = value
        }
        row["createdAt"] = .timestamp(Self.updatedAt(index))
        row["deleted"] = false
        guard let position else { return row }
        row["text"] = .string(source.text(index, revision: 1))
        row["updatedAt"] = .timestamp(Self.updatedAt(position))
        row["version"] = .string(String(position, radix: 36))
        return row
    }

    /// Returns the rows of a range.
    func packed(_ range: Range<Int>, of source: RowSource) throws -> PackedRows {
        let positions = source.table.schema.makeShape().columns.map { shape.index(of: $0.name) }
        let (createdAt, deleted) = (shape.index(of: "createdAt"), shape.index(of: "deleted"))
        var rows = PackedRows(shape: shape)
        for index in range {
            rows.beginRow()
            rows.setID(source.id(index))
            for (position, value) in zip(positions, source.values(index)) {
                if let position { rows.set(value, at: position) }
            }
            if let createdAt { rows.set(.timestamp(Self.updatedAt(index)), at: createdAt) }
            if let deleted { rows.set(.bool(false), at: deleted) }
            try rows.endRow()
        }
        return rows
    }
}

extension LocalEdit {
    /// Returns one change for each of the first rows: of ten changes, six are updates, three inserts of new rows, and
    /// one a delete.
    static func mix(_ count: Int, of source: RowSource, rows: Int) -> [LocalEdit] {
        (0..<min(count, rows)).map { index in
            switch index % 10 {
            case 1, 4, 7: .insert(source.newRow(rows + index))
            case 9: .delete(id: source.id(index).text)
            default:
                .update([
                    "id": source.id(index).value, "text": .string(source.text(index, revision: 1)), "done": true,
                ])
            }
        }
    }

    /// The positions of the rows that these changes update, delete or insert.
    static func rowsOfMix(_ count: Int, rows: Int) -> [Int] {
        let changed = 0..<min(count, rows)
        return Array(changed) + changed.map { rows + $0 }
    }
}
#endif
