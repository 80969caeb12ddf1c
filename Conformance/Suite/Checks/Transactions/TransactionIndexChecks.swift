internal import TidelineStore

extension Check {
    /// Index entries are part of the transaction of their rows.
    static let transactionIndexes: [Check] = [
        Check(
            "TRN-011", "No index finds a row whose insert was rolled back",
            why: "Entries written outside the transaction of their row refer to rows that do not exist."
        ) { context in
            let added: [Row] = [["id": "e", "priority": 2, "complete": false], ["id": "f", "priority": 7]]
            try expectIndexesAfterThrow(context, formerly: added) { try $0.upsert(added, into: "TodoItem") }
        },
        Check("TRN-012", "Every index finds a row by its old values after its change was rolled back") { context in
            let changed: [Row] = [["id": "a", "priority": 8, "complete": true], ["id": "b", "priority": .null]]
            try expectIndexesAfterThrow(context, formerly: changed) { try $0.upsert(changed, into: "TodoItem") }
        },
        Check("TRN-013", "Every index finds the rows whose deletion was rolled back") { context in
            try expectIndexesAfterThrow(context, formerly: []) { writer in
                try writer.delete(ids: ["a"], from: "TodoItem")
                try writer.delete(matching: TableQuery("TodoItem").filter(.column("priority") == 2))
            }
        },
        Check("TRN-014", "Every index finds a row once that was changed and changed back in one transaction") {
            context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                for priority: Value in [5, .null, 6, 1] {
                    try writer.upsert(["id": "a", "priority": priority], into: "TodoItem")
                }
                try writer.upsert([["id": "b", "priority": 9], ["id": "b", "priority": 2]], into: "TodoItem")
            }
            try store.read { reader in
                try context.expectIndexes(
                    of: .items, in: reader, find: ThreeTables.rows(.items),
                    formerly: [["priority": 5], ["priority": 6], ["priority": 9]], "after the write")
            }
        },
    ]

    private static func expectIndexesAfterThrow(
        _ context: CheckContext, formerly: [Row], _ changes: (TracedWriter) throws -> Void
    ) throws {
        let store = try ThreeTables.store(context)
        try store.rollBack(changes)
        try store.read { reader in
            try context.expectIndexes(
                of: .items, in: reader, find: ThreeTables.rows(.items), formerly: formerly, "after the throw")
        }
        // Rows deleted next must not leave an entry behind either.
        try store.delete(matching: TableQuery("TodoItem").filter(.column("priority") >= 0))
        try store.read { reader in
            let rest = ThreeTables.rows(.items).filter { $0["priority"]?.isNull ?? true }
            try context.expectIndexes(
                of: .items, in: reader, find: rest, formerly: ThreeTables.rows(.items) + formerly,
                "after the throw and a deletion")
        }
    }
}
