internal import TidelineStore

extension Check {
    /// Inserting and merging rows.
    static let upsert: [Check] = [
        upsertMerging, upsertBatches, upsertShapes, upsertRefusals, upsertIndexes, upsertAmounts,
    ].flatMap { $0 }

    /// Rows with few and many columns, and batches that name an id twice.
    static let upsertAmounts: [Check] = [
        Check(
            "UPS-051",
            "Rows with 1, 2, 17, 65, and 257 columns are stored, merged, cleared, and found by their last column",
            why: "A bit set for the columns that a row names, or that are null, may end at 32, 64, or 256."
        ) { context in
            for count in [1, 2, 17, 65, 257] {
                let names = (0..<count).map { "c\($0)" }
                let schema = TableSchema("Wide \(count)", columns: names.map { .int($0) }, systemColumns: [])
                let store = try context.store(schema, in: "wide \(count)")
                var row: Row = ["id": "a"]
                for (index, name) in names.enumerated() { row[name] = .int(Int64(index)) }
                var change: Row = ["id": "a"]
                for (index, name) in names.enumerated() where index % 3 != 1 {
                    change[name] = index % 3 == 0 ? .int(Int64(-index - 1)) : .null
                }
                try store.put(row, into: schema.name)
                try store.put(change, into: schema.name)
                let merged = row.merging(change)
                let last = names[count - 1]
                let found = TableQuery(schema.name, predicate: .column(last) == .literal(merged[last] ?? .null))
                try context.expect(found, in: store, finds: ["a"], "a row of \(count) columns")
                let reopened = try context.reopened(store)
                try context.expect(reopened.row(in: schema.name, "a"), is: merged, "a row of \(count) columns")
                try context.expect(found, in: reopened, finds: ["a"], "a row of \(count) columns, after reopening")
            }
        },
        Check(
            "UPS-052", "Of two rows with one id, the last counts in a batch of 2, 4, 34, and 2,002 rows",
            why: "A batch that is sorted before it is stored needs a stable sort."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all.dropLast() {
                let table = Amounts.schema(count).name
                let rows = Amounts.rows(count)
                let second = rows.map { ["id": $0.id.map(\.value) ?? .null, "m": 7] as Row }
                try store.put(rows + second, into: table)
                let sevens = TableQuery(table, predicate: .column("m") == 7)
                try store.read { reader in
                    try context.expect(reader.count(TableQuery(table)), is: count, "the rows of \(2 * count)")
                    try context.expect(reader.count(sevens), is: count, "the rows with the last value")
                }
            }
        },
    ]

    /// Properties of batches: their shape, the order of their columns, and their ownership.
    static let upsertShapes: [Check] = [
        Check(
            "UPS-022", "The columns of a batch are matched by name, not by position",
            why: "A batch may be made for another definition; copying values by position mixes them up."
        ) { context in
            let names = ["string", "int", "bytes", "bool", "timestamp", "json", "double"]
            let columns = names.compactMap { TableSchema.allTypes.column($0) }
            let other = TableSchema("Other", columns: columns, systemColumns: [.version])
            let rows = [Row.typed("1"), .typed("2", 2), ["id": "3", "int": 3, "version": "v"]]
            let packed = try other.packed(rows)
            try context.expectRows(from: [.typed("2", 9)], become: rows) { try $0.upsert(packed, into: $1) }
        },
        Check(
            "UPS-023", "A batch made for fewer columns does not affect the others",
            why: "A row of the same length as the stored one may be mistaken for a complete row."
        ) { context in
            let other = TableSchema("Other", columns: [.string("string"), .int("int")], systemColumns: [])
            let change: Row = ["id": "1", "string": "new", "int": .null]
            let packed = try other.packed([change, ["id": "2", "int": 2]])
            let merged: [Row] = [Row.typed("1").merging(change), ["id": "2", "int": 2]]
            try context.expectRows(from: [.typed("1")], become: merged) { try $0.upsert(packed, into: $1) }
        },
        Check("UPS-024", "A batch may have columns that the table lacks, as long as no row names them") { context in
            let other = TableSchema("Other", columns: [.int("unknown"), .bool("string"), .int("int")])
            let packed = try other.packed([["id": "1", "int": 3]])
            try context.expectRows(become: [["id": "1", "int": 3]]) { try $0.upsert(packed, into: $1) }
        },
        Check("UPS-025", "Values set in another order than the columns, including the id, are stored correctly") {
            context in
            try context.expectRows(become: Row.typed(1..<4)) { writer, table in
                let shape = try writer.shape(of: table)
                var packed = PackedRows(shape: shape)
                for row in Row.typed(1..<4) { try packReversed(row, into: &packed) }
                try writer.upsert(packed, into: table)
            }
        },
        Check(
            "UPS-026", "An upsert does not change the batch, which can be used again",
            why: "The sync core writes a page to the store and then passes it to observers."
        ) { context in
            let rows = [Row.typed("B"), .typed("a", 2), ["id": "b", "int": 3]]
            let packed = try TableSchema.allTypes.packed(rows)
            let change = { (writer: TracedWriter, table: String) in
                try writer.upsert(packed, into: table)
                try writer.upsert(packed, into: table)
            }
            try context.expectRows(become: [Row.typed("B").merging(["int": 3]), .typed("a", 2)], after: change)
            var after: [Row] = []
            packed.forEachRow { after.append($0.owned()) }
            try context.expect(after, are: rows, "the batch after it was written twice")
        },
        Check(
            "UPS-027", "A row that was read can be written to a table with other columns",
            why: "A row keeps the bytes of its own table, which have another meaning in another table."
        ) { context in
            let store = try context.typedStore([.typed("1")])
            let copy = TableSchema("Copy", columns: TableSchema.allTypes.columns.reversed())
            try store.define([copy])
            let row = try store.row(in: TableSchema.allTypes.name, "1")
            guard let row else { throw CheckFailure("the row that was inserted is not found") }
            try context.expect(copy, of: store, holds: [.typed("1")]) { try $0.upsert(row, into: "Copy") }
        },
        Check("UPS-028", "A row borrowed from a lookup or scan can be written within the same write") { context in
            let store = try context.typedStore([.typed("1"), .typed("2", 2)])
            let (from, to) = (TableSchema.allTypes, TableSchema.allTypesIndexed)
            let rows = [Row.typed("1"), .typed("2", 2)].map { Row(id: .string($0.idText + " copied")).merging($0) }
            try context.apply(to: store) { writer in
                try writer.delete(matching: TableQuery(to.name))
                try writer.scan(TableQuery(from.name)) { view in
                    try writer.upsert(Row(id: .string(view.idText + " copied")).merging(view.owned()), into: to.name)
                    return .next
                }
            } thenLook: { reader, place in
                try context.expect(to, in: reader, holds: rows, place)
                try context.expect(from, in: reader, holds: [.typed("1"), .typed("2", 2)], place)
            }
        },
        Check(
            "UPS-049",
            "A batch whose columns are the table's in another order, all of one type, is stored by name",
            why: "Columns with equal types in equal positions may be mistaken for the table's own."
        ) { context in
            let columns = ["a", "b", "c"].map { ColumnSchema.string($0) }
            let schema = TableSchema("Alike", columns: columns, systemColumns: [])
            let other = TableSchema("Alike", columns: [columns[1], columns[2], columns[0]], systemColumns: [])
            let rows: [Row] = [["id": "1", "a": "1a", "b": "1b", "c": "1c"], ["id": "2", "b": "2b"]]
            let packed = try other.packed(rows)
            try context.expect(schema, of: context.store(schema), holds: rows) { writer in
                try writer.upsert(["id": "1", "a": "old", "b": "old"], into: "Alike")
                try writer.upsert(packed, into: "Alike")
            }
        },
    ]

    private static func packReversed(_ row: Row, into packed: inout PackedRows) throws {
        packed.beginRow()
        for (name, value) in row.values.reversed() {
            guard let index = packed.shape.index(of: name) else { throw CheckFailure("the shape lacks \(name)") }
            if name == "int" { packed.setID(.string(row.idText)) }
            packed.set(value, at: index)
        }
        try packed.endRow()
    }
}
