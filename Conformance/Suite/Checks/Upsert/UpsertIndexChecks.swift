internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// A table's indexes during upserts.
    static let upsertIndexes: [Check] = [
        Check("UPS-040", "A new row is found through every index") { context in
            let rows = Row.typed(0..<6) { $0 / 2 } + [["id": "none"]]
            try context.expectIndexes(follow: rows) { try $0.upsert(rows, into: $1) }
        },
        Check(
            "UPS-041", "A merged row is found through every index by its new values and no longer by its old ones",
            why: "A stale entry returns the row twice, or for a query that it does not match."
        ) { context in
            let rows = Row.typed(0..<6) { $0 / 2 }
            let changed = Row.typed(0..<6) { $0 / 2 + 10 }
            try context.expectIndexes(from: rows, follow: changed) { try $0.upsert(changed, into: $1) }
        },
        Check("UPS-042", "A merge that names one column of a composite index moves the row's entry") { context in
            let rows = Row.typed(0..<4)
            for name in ["string", "int", "timestamp", "bool"] {
                let change = Row.typed("1", 8).filteringColumns { $0 == name }
                var expected = rows
                expected[1] = rows[1].merging(change)
                try context.expectIndexes(from: rows, follow: expected) { try $0.upsert(change, into: $1) }
            }
        },
        Check("UPS-043", "A merge that names no column of an index keeps the row's entry") { context in
            let rows = Row.typed(0..<4)
            let changed = rows.map { Row(id: $0.id).merging(["version": "2"]) }
            let expected = zip(rows, changed).map { $0.merging($1) }
            try context.expectIndexes(from: rows, follow: expected) { try $0.upsert(changed, into: $1) }
        },
        Check("UPS-044", "A merge to null, or from null, moves the row's entry in every index") { context in
            let rows: [Row] = [.typed("1"), ["id": "2"], .typed("3", 3)]
            let changed: [Row] = [Row(id: "1").completed(for: .allTypes), .typed("2", 2)]
            try context.expectIndexes(from: rows, follow: changed + [rows[2]]) { try $0.upsert(changed, into: $1) }
        },
        Check("UPS-045", "A row rewritten with the same values has one entry in every index") { context in
            let rows = Row.typed(0..<4) + [["id": "none"]]
            try context.expectIndexes(from: rows, follow: rows) { writer, table in
                try writer.upsert(rows, into: table)
                try writer.upsert(rows + rows, into: table)
            }
        },
        Check("UPS-046", "Of several rows with one id in a batch, only the last is in the indexes") { context in
            let batch = (0..<5).map { Row.typed("1", $0) }
            let between = (5..<8).map { Row.typed("1", $0) }
            try context.expectIndexes(from: [.typed("1", 9)], follow: [between[2]]) {
                try $0.upsert(batch + between, into: $1)
            }
        },
        Check(
            "UPS-047", "A batch that is refused leaves every index unchanged",
            why: "Entries that were added or removed before the error must be rolled back with the rows."
        ) { context in
            let (rows, schema) = ([Row.typed("1"), .typed("2", 2)], TableSchema.allTypesIndexed)
            let store = try context.typedStore(rows)
            let batch = try schema.packed([.typed("1", 5), .typed("3", 6), Row(id: .string(""))])
            try context.expectError(.invalidValue, "a batch with an empty id") {
                try store.put(batch, into: schema.name)
            }
            try store.read { reader in
                let formerly: [Row] = [.typed("1", 5), .typed("3", 6)]
                try context.expectIndexes(
                    of: schema, in: reader, find: rows, formerly: formerly, "after the batch was refused")
            }
        },
        Check("UPS-048", "After many changes to many rows, every index equals a newly built one") { context in
            var random = SplitMix64(seed: context.seed)
            let changes: [Row] = (0..<200).map { _ in
                let change = Row.typed(.string("\(random.next() % 20)"), Int64(random.next() % 5))
                return change.filteringColumns { _ in random.next() % 3 > 0 }
            }
            try context.expectIndexes(follow: [Row]().merging(changes)) { writer, table in
                for start in stride(from: 0, to: 200, by: 10) {
                    try writer.upsert(Array(changes[start..<start + 10]), into: table)
                }
            }
        },
    ]
}
