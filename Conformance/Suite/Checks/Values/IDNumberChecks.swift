internal import TidelineStore

extension Check {
    /// Integer ids.
    static let idNumbers: [Check] = [
        Check("VAL-050", "Integer ids of any size and sign are distinct, found, and merged") { context in
            try withNumbered(context) { reader, rows, place in
                try context.expect(numbered, in: reader, holds: rows, place)
                for id in [2, -2, 11, .min + 2, .max - 2] as [Int64] {
                    let found = try reader.row(in: "Numbered", id: .int(id))
                    try context.expect(found, is: nil, "\(place), the lookup of \(id)")
                }
            }
        },
        Check(
            "VAL-051", "Rows are ordered numerically by their integer ids, negative ones first",
            why: "As text, 10 sorts before 9; as bytes, negative numbers sort after all others."
        ) { context in
            try withNumbered(context) { reader, rows, place in
                let (all, ids) = (TableQuery("Numbered"), rows.compactMap(\.id))
                try context.expect(all, in: reader, finds: ids, place)
                try context.expect(all.order(by: "id", descending: true), in: reader, finds: ids.reversed(), place)
                try context.expect(all.order(by: "same"), in: reader, finds: ids, place)
                try context.expect(all.order(by: "same", descending: true), in: reader, finds: ids, place)
                try context.expect(all.filter(.column("same") == 1), in: reader, finds: ids, place)
                try context.expect(all.skip(2).limit(3), in: reader, finds: Array(ids[2..<5]), place)
            }
        },
        Check("VAL-052", "Integer ids compare exactly in filters, also beyond 2^53") { context in
            try withNumbered(context) { reader, rows, place in
                let (all, operand, ids) = (TableQuery("Numbered"), RowPredicate.column("id"), rows.compactMap(\.id))
                for (index, id) in ids.enumerated() {
                    let literal = RowPredicate.literal(id.value)
                    try context.expect(all.filter(operand == literal), in: reader, finds: [id], place)
                    try context.expect(all.filter(operand.isIn([id.value])), in: reader, finds: [id], place)
                    try context.expect(all.filter(operand < literal), in: reader, finds: Array(ids[..<index]), place)
                    try context.expect(all.filter(operand >= literal), in: reader, finds: Array(ids[index...]), place)
                }
            }
        },
        Check("VAL-053", "A deletion by integer ids removes these rows and no others") { context in
            let store = try context.store(numbered)
            let rows = numberedRows
            let gone: [RowID] = [.int(.min), 9, .int(1 << 53)]
            let left = rows.filter { row in !gone.contains { $0 == row.id } }
            try context.expect(numbered, of: store, holds: left) { writer in
                try writer.upsert(rows, into: "Numbered")
                let deleted = try writer.delete(ids: [9, 12, "10"] + gone, from: "Numbered")
                try context.expect(deleted, is: 3, "rows deleted by three ids, one of them twice, and by others")
            }
        },
    ]

    private static let numbered = TableSchema(
        "Numbered", columns: [.int("n"), .int("same")], idType: .int, indexes: [["same"], ["n"]])

    private static var numberedRows: [Row] {
        let limit = Int64(1) << 53
        let ids = [
            .min, .min + 1, -limit - 1, -limit, -256, -10, -9, -1, 0, 1, 9, 10, 255, 256, 65_536, limit, limit + 1,
            .max - 1,
            .max,
        ]
        return ids.map { Row(id: .int($0)).merging(["n": .int($0 / 2), "same": 1]) }
    }

    /// Reads rows with integer ids, merged once, in ascending order: inside the write, after it, and after reopening.
    private static func withNumbered(
        _ context: CheckContext, _ look: (any StoreReader, _ rows: [Row], _ place: String) throws -> Void
    ) throws {
        let rows = numberedRows
        try context.apply(to: context.store(numbered)) { writer in
            let order = rows.indices.map { rows[$0 * 7 % rows.count] }
            try writer.upsert(order.map { Row(id: $0.id).merging(["n": 0]) }, into: "Numbered")
            try writer.upsert(order, into: "Numbered")
        } thenLook: { reader, place in
            try look(reader, rows, place)
        }
    }
}
