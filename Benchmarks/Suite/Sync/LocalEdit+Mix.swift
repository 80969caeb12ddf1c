internal import TidelineStore

extension LocalEdit {
    /// Changes to the first rows of a table, each row changed once: of ten, six are updates, three inserts behind its last
    /// row, and one a delete.
    static func mix(_ count: Int, of source: RowSource, rows: Int) -> [LocalEdit] {
        (0..<min(count, rows)).map { index in
            switch index % 10 {
            case 1, 4, 7: .insert(newRow(rows + index, of: source))
            case 9: .delete(id: source.id(index).text)
            default:
                .update([
                    "id": source.id(index).value, "text": .string(source.text(index, revision: 1)), "done": true,
                ])
            }
        }
    }

    /// The places of the rows that such changes are to, of those that exist and those that they add.
    static func rowsOfMix(_ count: Int, rows: Int) -> [Int] {
        let changed = 0..<min(count, rows)
        return Array(changed) + changed.map { rows + $0 }
    }

    /// A row as an app makes it.
    private static func newRow(_ index: Int, of source: RowSource) -> Row {
        zip(source.table.schema.columns, source.values(index)).reduce(into: Row(id: source.id(index))) {
            $0[$1.0.name] = $1.1
        }
    }
}
