internal import Foundation
internal import TidelineStore

extension TableSchema {
    /// A table with an optional column of every type, named after the type, without an index.
    static let allTypes = TableSchema("AllTypes", columns: ColumnType.allCases.map { ColumnSchema($0.rawValue, $0) })

    /// The same columns with an index on each, and two indexes on several columns.
    static let allTypesIndexed = TableSchema(
        "AllTypesIndexed", columns: allTypes.columns,
        indexes: allTypes.columns.map { IndexSchema([$0.name]) } + [["string", "int"], ["int", "timestamp", "bool"]])

    /// Both tables, because promises about rows hold with and without an index.
    static let typedTables = [allTypes, allTypesIndexed]
}

extension Row {
    /// Returns a row of ``TableSchema/allTypes`` for each number, with a value that every store keeps in each column.
    static func typed(_ id: RowID, _ number: Int64 = 1) -> Row {
        Row(id: id).merging([
            "bool": .bool(number % 2 == 1), "int": .int(number), "double": .double(Double(number) + 0.5),
            "string": .string("text \(number)"),
            "timestamp": .timestamp(Timestamp(clampingTicks: number * Timestamp.ticksPerSecond)),
            "bytes": .bytes([UInt8(truncatingIfNeeded: number), 0, 255]), "json": .json("{\"n\":\(number)}"),
        ])
    }

    /// Returns such a row for each of these numbers, which are the identifiers, with the values of `value`.
    static func typed(_ numbers: Range<Int64>, values value: (Int64) -> Int64 = { $0 }) -> [Row] {
        numbers.map { .typed(.string("\($0)"), value($0)) }
    }
}

extension CheckContext {
    /// Returns a store with ``TableSchema/typedTables``, each with these rows.
    func typedStore(_ rows: [Row] = [], in name: String = "store") throws -> TracedStore {
        let store = try open(name)
        try store.define(TableSchema.typedTables)
        try store.write { writer in
            for table in TableSchema.typedTables { try writer.upsert(rows, into: table.name) }
        }
        return store
    }

    /// A name for a store's directory that this check has not used yet, for checks that open several stores in turn.
    var unusedName: String {
        let taken = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return taken.isEmpty ? "store" : "store \(taken.count + 1)"
    }

    /// Fails unless a change, with indexes and without, leads to these rows: in the write, after it, and reopened.
    func expectRows(
        from rows: [Row] = [], become expected: [Row], after change: (TracedWriter, _ table: String) throws -> Void
    ) throws {
        try apply(to: typedStore(rows, in: unusedName)) { writer in
            for table in TableSchema.typedTables { try change(writer, table.name) }
        } thenLook: { reader, place in
            for table in TableSchema.typedTables { try expect(table, in: reader, holds: expected, place) }
        }
    }

    /// Like ``expectRows(from:become:after:)``; also fails unless every index returns the current rows.
    func expectIndexes(
        from rows: [Row] = [], follow expected: [Row], after change: (TracedWriter, _ table: String) throws -> Void
    ) throws {
        let schema = TableSchema.allTypesIndexed
        try apply(to: typedStore(rows, in: unusedName)) { writer in
            try change(writer, schema.name)
        } thenLook: { reader, place in
            try expectIndexes(of: schema, in: reader, find: expected, formerly: rows, place)
        }
    }

    /// Fails unless values are kept bitwise by lookup, scan, and index: in the write, after it, and reopened.
    func expectKept(_ values: [Value], as type: ColumnType) throws {
        let rows = zip(0..., values).map { Row(id: .string("row \($0)")).merging(["v": $1, "n": .int($0)]) }
        let values = Dictionary(uniqueKeysWithValues: zip(rows.map(\.idText), values))
        try applyToValueTables(of: type, rows) { table, reader, place in
            for (id, value) in values {
                let found = try reader.row(in: table.name, id: id)?["v"]
                try expect(found, is: value, "\(place), v of \(id) by lookup in \(table.name)")
            }
            let all = TableQuery(table.name)
            for query in [all.order(by: "id", descending: true), all.filter(.column("n") >= 0).select("v")] {
                let found = try reader.rows(matching: query).rows
                try expect(found.count, is: rows.count, "\(place), the number of rows of \(query.swiftSource)")
                for row in found {
                    try expect(row["v"], is: values[row.idText], "\(place), v of \(row.idText) by \(query.swiftSource)")
                }
            }
        }
    }

    /// Fails unless each of these values equals only itself and they sort in this order: with and without an index,
    /// inside the write, in a read after it, and after reopening.
    ///
    /// - Parameter values: At most 97 distinct values in ascending order.
    func expectOrdered(_ values: [Value], as type: ColumnType) throws {
        // The identifiers are in another order than the values, and null sorts before all of them.
        let ids = values.indices.map { RowID.string("row \(100 + $0 * 13 % 97)") }
        let rows = zip(ids, values).map { Row(id: $0).merging(["v": $1, "n": 0]) }
        try applyToValueTables(of: type, rows + [["id": "null", "n": 0]]) { table, reader, place in
            let (all, operand) = (TableQuery(table.name), RowPredicate.column("v"))
            let (up, down) = (all.order(by: "v"), all.order(by: "v", descending: true))
            try expect(up, in: reader, finds: ["null"] + ids, place)
            try expect(down, in: reader, finds: ids.reversed() + ["null"], place)
            for (index, value) in values.enumerated() {
                let literal = RowPredicate.literal(value)
                let (before, after) = (Array(ids[..<index]), Array(ids[(index + 1)...]))
                try expect(all.filter(operand == literal), in: reader, finds: [ids[index]], place)
                try expect(all.filter(operand.isIn([value])), in: reader, finds: [ids[index]], place)
                try expect(up.filter(operand < literal), in: reader, finds: before, place)
                try expect(up.filter(operand > literal), in: reader, finds: after, place)
                try expect(up.filter(operand >= literal), in: reader, finds: [ids[index]] + after, place)
                try expect(down.filter(operand <= literal), in: reader, finds: [ids[index]] + before.reversed(), place)
            }
        }
    }

    /// Checks rows in a table with a column `v` of a type and a number `n`, and in one that also has indexes.
    func applyToValueTables(
        of type: ColumnType, _ rows: [Row],
        thenLook look: (_ table: TableSchema, any StoreReader, _ place: String) throws -> Void
    ) throws {
        let columns = [ColumnSchema("v", type), .int("n")]
        let tables = [
            TableSchema("Plain", columns: columns),
            TableSchema("Indexed", columns: columns, indexes: [["v"], ["n", "v"]]),
        ]
        try apply(to: store(tables, in: unusedName)) { writer in
            for table in tables { try writer.upsert(rows, into: table.name) }
        } thenLook: { reader, place in
            for table in tables { try look(table, reader, place) }
        }
    }
}
