internal import Synchronization
internal import TidelineStore

extension Check {
    /// Consistency of fast paths with generic ones, and of capabilities over time.
    static let modelPaths: [Check] = [
        Check(
            "MOD-005", "Declared capabilities do not change while the store is open or after reopening",
            why: "Callers read them once and rely on them."
        ) { context in
            let store = try ThreeTables.store(context)
            let declared = context.capabilities
            try context.expect(store.capabilities, is: declared, "the capabilities of another store of the same kind")
            try store.read { _ in try context.expect(store.capabilities, is: declared, "the capabilities in a read") }
            try store.write { writer in
                try writer.upsert(["id": "z"], into: "Note")
                try context.expect(store.capabilities, is: declared, "the capabilities in a write")
            }
            try store.rollBack { try $0.delete(matching: TableQuery("Note")) }
            try store.define([TableSchema("Other", columns: [.int("n")])])
            try context.expect(
                store.capabilities, is: declared, "the capabilities after writes, a throw and a definition")
            try context.onThreads(3, "reads of the capabilities") { _ in
                try context.expect(store.capabilities, is: declared, "the capabilities on another thread")
            }
            let reopened = try context.reopened(store)
            try context.expect(reopened.capabilities, is: declared, "the capabilities after reopening")
            try reopened.close()
            _ = reopened.capabilities
        },
        Check("MOD-006", "The shape of a table equals the shape of its definition, in reads and in writes") { context in
            let store = try ThreeTables.store(context)
            func compare(_ reader: some StoreReader, _ place: String) throws {
                for schema in try store.tables() {
                    let (shape, expected) = (try reader.shape(of: schema.name), schema.makeShape())
                    try context.expect(shape.columns, is: expected.columns, "the shape's columns, \(place)")
                    try context.expect(shape.idType, is: expected.idType, "the shape's id type, \(place)")
                    try context.expect(shape.table, is: expected.table, "the shape's table, \(place)")
                    try context.expect(reader.schema(of: schema.name), is: schema, "the definition, \(place)")
                }
                try context.expectError(.noSuchTable, "the shape of a table that does not exist", table: "Nothing") {
                    _ = try reader.shape(of: "Nothing")
                }
            }
            try store.read { try compare($0, "in a read") }
            var items = TableSchema.items
            items.columns.removeFirst()
            items.columns.append(.bytes("picture"))
            try store.define([items])
            try store.read { try compare($0, "in a read after another definition") }
            guard context.capabilities.readersDoNotBlockWriters else { return }
            try store.write { try compare($0, "in a write after another definition") }
        },
        Check("MOD-007", "A borrowed row has the values, the id, and the columns of the owned one") { context in
            let store = try everyType(context)
            let schema = RandomRows.everyType()
            try store.read { reader in
                for row in try reader.allRows(schema.name) {
                    let owned = try reader.row(in: schema.name, id: row.idText)
                    try context.expect(owned, is: row, "row(in:id:) compared with rows(matching:)")
                    let borrowed = try reader.withRow(in: schema.name, id: .string(row.idText)) { view in
                        schema.allColumns.reduce(into: Row(id: view.id)) { $0[$1.name] = view[$1.name] }
                    }
                    try context.expect(borrowed, is: row, "withRow(in:id:), value by value")
                }
            }
        },
        Check("MOD-008", "A scan returns the rows of rows(matching:), with columns at the positions of its shape") {
            context in
            let store = try everyType(context)
            let name = RandomRows.everyType().name
            let queries = [
                TableQuery(name), TableQuery(name).order(by: "int", descending: true),
                TableQuery(name).select("string", "int2"),
                TableQuery(name).filter(.column("bool") == true).skip(1).limit(4).includingTotalCount(),
            ]
            try store.read { reader in
                try context.expectColumns(of: reader.schema(of: name), in: reader, "in a new table")
                for query in queries {
                    let result = try reader.rows(matching: query)
                    var scanned: [Row] = []
                    let total = try reader.scan(query) { view in
                        var row = Row(id: view.id)
                        for (index, column) in view.shape.columns.enumerated() {
                            row[column.name] = view.value(at: index)
                        }
                        scanned.append(row)
                        return .next
                    }
                    try context.expect(scanned, are: result.rows, query.swiftSource)
                    try context.expect(total, is: result.totalCount, "\(query.swiftSource): the total count of a scan")
                }
            }
        },
        Check("MOD-009", "count(_:) equals the number of rows without skip and limit, and the total count") { context in
            let store = try everyType(context)
            let schema = RandomRows.everyType()
            var queries = RandomQuery(seed: context.seed, schema: schema, rows: try store.allRows(schema.name))
            for _ in 0..<(60 * context.rounds) {
                var query = queries.nextIndexed()
                (query.skip, query.limit, query.includesTotalCount) = (0, nil, true)
                try store.read { reader in
                    do {
                        let (count, result) = (try reader.count(query), try reader.rows(matching: query))
                        try context.expect(count, is: result.rows.count, "count(_:) and rows of \(query.swiftSource)")
                        try context.expect(result.totalCount, is: count, "the total count of \(query.swiftSource)")
                    } catch let error as StoreError where error.code == .unsupportedQuery { return }
                }
            }
        },
        Check(
            "MOD-010", "Packed rows are stored like unpacked ones, whatever the order of their columns",
            why: "A store that copies packed bytes must check which columns they contain."
        ) { context in
            let schema = RandomRows.everyType()
            let (plain, packed) = (try context.store(schema, in: "plain"), try context.store(schema, in: "packed"))
            var random = RandomRows(seed: context.seed, values: RandomValues(includesInfinity: false))
            let rows = random.rows(40, of: schema)
            var turned = schema
            turned.columns = schema.columns.reversed()
            turned.systemColumns = []
            try plain.put(rows, into: schema.name)
            try packed.write { writer in
                var batch = PackedRows(shape: turned.makeShape())
                for row in rows { try batch.append(row.filteringColumns { turned.column($0) != nil }) }
                try writer.upsert(batch, into: schema.name)
                var rest = PackedRows(shape: schema.makeShape())
                for row in rows {
                    var system = row.filteringColumns { turned.column($0) == nil }
                    system.id = row.id
                    try rest.append(system)
                }
                try writer.upsert(rest, into: schema.name)
            }
            let found = try packed.allRows(schema.name)
            try context.expect(found, are: plain.allRows(schema.name), "packed rows compared with plain ones")
        },
    ]

    /// Returns a table with a column of every type and forty random rows.
    private static func everyType(_ context: CheckContext) throws -> TracedStore {
        var schema = RandomRows.everyType()
        schema.indexes = [["bool"], ["int", "string"]]
        var random = RandomRows(seed: context.seed, values: RandomValues(includesInfinity: false))
        return try context.store(schema, holding: random.rows(40, of: schema))
    }
}
