internal import TidelineStore

extension Check {
    /// Inserting and merging rows.
    static let upsert: [Check] = [
        Check("UPS-001", "An insert stores the row, with null in the columns it does not name") { trial in
            let store = try trial.store(.items)
            let row: Row = ["id": "1", "text": "Milk", "complete": false]
            try store.write { try $0.upsert(row, into: "TodoItem") }
            let found = try store.read { try $0.row(in: "TodoItem", id: "1") }
            try trial.expect(found, is: row.completed(for: .items), "the row after the insert")
        },
        Check(
            "UPS-002", "A column that a merge does not name keeps its value",
            why: "A page of a pull may name a part of the columns; a store that replaces rows loses the rest."
        ) { trial in
            let store = try trial.store(.items)
            try store.write { try $0.upsert(["id": "1", "text": "Milk", "priority": 3], into: "TodoItem") }
            try store.write { try $0.upsert(["id": "1", "text": "Bread"], into: "TodoItem") }
            let expected: Row = ["id": "1", "text": "Bread", "priority": 3]
            try trial.expect(
                try store.read { try $0.row(in: "TodoItem", id: "1") }, is: expected.completed(for: .items),
                "the merged row")
        },
    ]
}
