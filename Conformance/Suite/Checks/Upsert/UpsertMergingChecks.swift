internal import TidelineStore

extension Check {
    /// The result of storing one row, new or merged into an existing one.
    static let upsertMerging: [Check] = [
        Check("UPS-001", "An insert stores the row, with null in the columns that it does not name") { context in
            let row: Row = ["id": "1", "string": "Milk", "bool": false]
            try context.expectRows(become: [row]) { try $0.upsert(row, into: $1) }
        },
        Check(
            "UPS-002", "A column that a merge does not name keeps its value",
            why: "A page of a pull may name only some columns; a store that replaces rows loses the rest."
        ) { context in
            for column in TableSchema.allTypes.columns {
                let change = Row.typed("1", 2).filteringColumns { $0 == column.name }
                try context.expectRows(from: [.typed("1")], become: [Row.typed("1").merging(change)]) {
                    try $0.upsert(change, into: $1)
                }
            }
        },
        Check(
            "UPS-003", "An explicit null clears the column and no other",
            why: "Null is a value; a store that does not distinguish it from an absent column never clears anything."
        ) { context in
            for column in TableSchema.allTypes.columns {
                let change = Row(id: "1").merging([column.name: .null])
                try context.expectRows(from: [.typed("1")], become: [Row.typed("1").merging(change)]) {
                    try $0.upsert(change, into: $1)
                }
            }
        },
        Check("UPS-004", "A merge that names every column replaces them all") { context in
            let change = Row.typed("1", 2).completed(for: .allTypes)
            try context.expectRows(from: [.typed("1")], become: [change]) { try $0.upsert(change, into: $1) }
        },
        Check("UPS-005", "A row that consists only of an id is stored, with null in every column") { context in
            try context.expectRows(become: [Row(id: "1")]) { try $0.upsert(Row(id: "1"), into: $1) }
        },
        Check("UPS-006", "A merge that names no column changes nothing") { context in
            try context.expectRows(from: [.typed("1")], become: [.typed("1")]) { try $0.upsert(Row(id: "1"), into: $1) }
        },
        Check("UPS-007", "A column that was cleared, or never set, can be set again") { context in
            let cleared: Row = ["id": "1", "string": .null, "int": .null]
            let filled: [Row] = [Row.typed("1", 3), .typed("2", 4)]
            try context.expectRows(from: [.typed("1"), ["id": "2"]], become: filled) { writer, table in
                try writer.upsert(cleared, into: table)
                try writer.upsert(filled, into: table)
            }
        },
        Check(
            "UPS-008", "A value that grows, shrinks, or becomes empty does not affect other values",
            why: "Rows are packed; a merge that moves one value must move those behind it, also beyond 64 KiB."
        ) { context in
            for length in [0, 1, 200, 70_000, 3] { try changeLength(to: length, context) }
        },
        Check("UPS-009", "Each merge in a write starts from the result of the previous one") { context in
            try context.expectRows(become: [["id": "1", "string": "b", "int": 1, "double": 2.5]]) { writer, table in
                try writer.upsert(["id": "1", "string": "a", "int": 1], into: table)
                try writer.upsert(["id": "1", "string": "b", "bool": true], into: table)
                try writer.upsert(["id": "1", "bool": .null, "double": 2.5], into: table)
            }
        },
        Check("UPS-010", "An upsert does not affect other rows") { context in
            let ids: [RowID] = ["0", "01", "1", "10", "1 ", "2"]
            let rows = ids.enumerated().map { Row.typed($1, Int64($0)) }
            let expected = rows.map { $0.idText == "1" ? Row.typed("1", 9) : $0 }
            try context.expectRows(from: rows, become: expected) { try $0.upsert(.typed("1", 9), into: $1) }
        },
        Check(
            "UPS-011", "System columns are stored as given and never set by the store",
            why: "`version` is compared with the server's value, and an incremental pull continues from `updatedAt`."
        ) { context in
            let stamp = Timestamp(clampingTicks: 17_672_256_000_000_001)
            let row: Row = [
                "id": "1", "version": "\"AAAAAAAAB9E=\"", "createdAt": .timestamp(stamp),
                "updatedAt": .timestamp(stamp.advanced(byTicks: 1)),
            ]
            try context.expectRows(become: [row, .typed("2")]) { try $0.upsert([row, .typed("2")], into: $1) }
        },
        Check("UPS-012", "Rows with one id in two tables are independent") { context in
            let store = try context.store(.items, .notes)
            let (item, note): (Row, Row) = (["id": "1", "text": "item"], ["id": "1", "text": "note", "number": 7])
            try context.apply(to: store) { writer in
                try writer.upsert(item, into: "TodoItem")
                try writer.upsert(note, into: "Note")
            } thenLook: { reader, place in
                try context.expect(.items, in: reader, holds: [item], place)
                try context.expect(.notes, in: reader, holds: [note], place)
            }
        },
    ]

    /// Sets each column of variable length, in turn, to a value of the given size in bytes.
    private static func changeLength(to length: Int, _ context: CheckContext) throws {
        let text = String(repeating: "x", count: length)
        let values: Row = [
            "string": .string(text), "bytes": .bytes(Array(text.utf8)), "json": .json("[\"\(text)\"]"),
        ]
        for (name, value) in values.values {
            let change = Row(id: "1").merging([name: value])
            let merged: [Row] = [Row.typed("1").merging(change), .typed("2")]
            try context.expectRows(from: [.typed("1"), .typed("2")], become: merged) { try $0.upsert(change, into: $1) }
        }
    }
}
