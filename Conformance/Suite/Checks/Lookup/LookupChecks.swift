internal import TidelineStore

extension Check {
    /// Lookup and deletion.
    static let lookup: [Check] = [
        lookupRows, deletionsByID, deletionsByQuery, deletionWindows, lookupAmounts,
    ].flatMap { $0 }

    /// Looking up and deleting few and many rows.
    static let lookupAmounts: [Check] = [
        Check(
            "GET-038", "1, 2, 17, 1,001, and 5,000 ids are looked up and deleted by the table's id matching",
            why: "A long list of ids may use another code path than a short one, which must also ignore case."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let table = Amounts.schema(count).name
                let ids = (0..<count).map { RowID.string("ROW-\(100_000 + $0)") }
                try store.put(Amounts.rows(count) + [["id": "stays"]], into: table)
                try store.read { reader in
                    for id in ids where try reader.row(in: table, id: id.text) == nil {
                        throw CheckFailure("of \(count) rows \(id.text) is not found by its id in another case")
                    }
                }
                try store.write { writer in
                    let deleted = try writer.delete(ids: ids + ids.prefix(1), from: table)
                    try context.expect(deleted, is: count, "the rows deleted by \(count) ids, one of them duplicated")
                }
                try context.expect(TableQuery(table), in: store, finds: ["stays"], "after the deletion of \(count)")
            }
        },
        Check(
            "GET-039", "A deletion by query with a limit of 1, 2, 17, 1,001, and 5,000 rows deletes exactly these",
            why: "A deletion in batches may apply skip and limit again to each batch, or end after the first."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let table = Amounts.schema(count).name
                let rows = (0..<count + 2).map { ["id": .string(Amounts.id($0)), "m": .int(Int64($0))] as Row }
                try store.put(rows, into: table)
                let window = TableQuery(table).order(by: "m", descending: true).skip(1).limit(count)
                let deleted = try store.delete(matching: window)
                try context.expect(deleted, is: count, "the rows deleted by \(window.swiftSource)")
                let left = [0, count + 1].map { RowID.string(Amounts.id($0)) }
                try context.expect(TableQuery(table), in: store, finds: left, "after a limit of \(count)")
            }
        },
    ]

    /// Looking up one row by its id.
    static let lookupRows: [Check] = [
        Check("GET-001", "The lookup of an absent id returns nil and does not call the body") { context in
            try context.apply(to: context.store(.notes, .items)) { writer in
                try writer.upsert([["id": "1"], ["id": "12"], ["id": "b"]], into: "Note")
                try writer.upsert(["id": "3"] as Row, into: "TodoItem")
            } thenLook: { reader, place in
                let misses: [RowID] = ["2", "3", "1 ", " 1", "1\0", "123", "a", "c", "\u{661}", "１"]
                try expectMisses(misses, in: reader, place, context)
            }
        },
        Check("GET-002", "The lookup of an id whose type is not the table's returns nil") { context in
            let numbered = TableSchema("Numbered", columns: [], idType: .int)
            try context.apply(to: context.store(.notes, numbered)) { writer in
                try writer.upsert(["id": "1"] as Row, into: "Note")
                try writer.upsert(Row(id: 1), into: "Numbered")
                try writer.upsert(Row(id: 0x31), into: "Numbered")
            } thenLook: { reader, place in
                try expectMisses([.int(1), .int(0x31)], in: reader, place, context)
                for id in ["1", "01", "\u{1}\0\0\0\0\0\0\0"] as [RowID] {
                    let found = try reader.row(in: "Numbered", id: id)
                    try context.expect(found, is: nil, "\(place), the lookup of \(CheckContext.text(id)) in Numbered")
                }
            }
        },
        Check("GET-003", "The lookup of an empty or overlong id returns nil") { context in
            try context.storing([["id": "1"]], in: .notes) { reader, place in
                var ids = ["", String(repeating: "1", count: 600), String(repeating: "1", count: 70_000)]
                if let id = context.overlongID() { ids.append(id) }
                try expectMisses(ids.map { .string($0) }, in: reader, place, context)
            }
        },
        Check("GET-004", "A row that is found names every column of its table, in the order of the definition") {
            context in
            try context.storing([["id": "1", "json": .json("[]"), "string": "x"]], in: .allTypes) { reader, place in
                let found = try reader.row(in: "AllTypes", id: "1")?.columnNames
                try context.expect(
                    found, is: TableSchema.allTypes.allColumns.map(\.name), "\(place), the columns of the row")
            }
        },
        Check(
            "GET-005", "A borrowed row returns the same values by name, by position, and by type as an owned row",
            why: "A caller that reads without a copy, as the sync core does, must read the same values."
        ) { context in
            try context.storing([.typed("1"), ["id": "2", "string": "x"]], in: .allTypes) { reader, place in
                for id in ["1", "2"] as [RowID] { try expectSameBorrowed(id, in: reader, place, context) }
            }
        },
        Check("GET-006", "The result of a lookup's body is returned, and its error is rethrown") { context in
            let store = try context.store(.notes, holding: [["id": "1", "number": 7] as Row])
            try store.read { reader in
                let number = try reader.withRow(in: "Note", id: "1") { $0["number"] }
                try context.expect(number ?? nil, is: 7, "the body's result")
                try context.expectError(.io, "a lookup whose body throws that error") {
                    try reader.withRow(in: "Note", id: "1") { _ in throw StoreError(.io, "the body throws") }
                }
                let again = try reader.row(in: "Note", id: "1")?["number"]
                try context.expect(again, is: 7, "a lookup after one whose body threw")
            }
        },
        Check(
            "GET-007", "A row that was read does not change, whatever is written or closed later",
            why: "It must be a copy; a reference to the engine's memory changes or becomes invalid."
        ) { context in
            let (row, table) = (Row.typed("1"), TableSchema.allTypes.name)
            let store = try context.store(.allTypes, holding: [row, .typed("2", 2)])
            let read = try store.row(in: table, "1")
            let scanned = try store.allRows(table)
            let written = try store.write { writer in
                let before = try writer.row(in: table, id: "1")
                try writer.upsert(.typed("1", 5), into: table)
                try writer.delete(matching: TableQuery(table))
                try writer.upsert((0..<500).map { .typed(.string("new \($0)"), $0) }, into: table)
                return before
            }
            try store.close()
            let expected = row.completed(for: .allTypes)
            for found in [read, scanned.first, written] {
                try context.expect(found, is: expected, "the row read before")
            }
        },
        Check("GET-008", "Lookups within the body of a scan or a lookup do not change the borrowed rows") { context in
            try context.apply(to: context.store(.notes, .allTypes)) { writer in
                try writer.upsert((0..<20).map { ["id": .string("\($0)"), "number": .int($0)] }, into: "Note")
                try writer.upsert(Row.typed(0..<20), into: "AllTypes")
            } thenLook: { reader, place in
                var seen = 0
                try reader.scan(TableQuery("Note")) { note in
                    seen += 1
                    try expectPair(note.id, note["number"], in: reader, place, context)
                    try context.expect(
                        note["number"]?.int.map { "\($0)" }, is: note.idText, "\(place), the row borrowed from a scan")
                    return .next
                }
                try context.expect(seen, is: 20, "\(place), the rows scanned")
            }
        },
        Check("GET-009", "Each of 5,000 rows is found by its id, in any order of lookups") { context in
            let numbers = 0..<Int64(5_000)
            let rows = numbers.map { ["id": .string("row \($0)"), "number": .int($0)] as Row }
            try context.storing(rows, in: .notes) { reader, place in
                for number in numbers.map({ $0 * 1_237 % 5_000 }) {
                    let found = try reader.row(in: "Note", id: "row \(number)")?["number"]
                    try context.expect(found, is: .int(number), "\(place), the lookup of row \(number)")
                }
            }
        },
    ]

    private static func expectMisses(
        _ ids: [RowID], in reader: any StoreReader, _ place: String, _ context: CheckContext
    ) throws {
        for id in ids {
            var calls = 0
            let found: Row? = try reader.withRow(in: "Note", id: id) { view in
                calls += 1
                return view.owned()
            }
            try context.expect(found, is: nil, "\(place), the lookup of \(CheckContext.text(id)) in Note")
            try context.expect(calls, is: 0, "\(place), calls of the body for \(CheckContext.text(id))")
        }
    }

    private static func expectSameBorrowed(
        _ id: RowID, in reader: any StoreReader, _ place: String, _ context: CheckContext
    ) throws {
        let what = "\(place), the borrowed row \(CheckContext.text(id))"
        guard let owned = try reader.row(in: "AllTypes", id: id) else { throw CheckFailure("\(what) is not found") }
        try reader.withRow(in: "AllTypes", id: id) { view in
            try context.expect(view.id, is: id, "\(what): its key")
            try context.expect(view["id"], is: id.value, "\(what): its column id")
            for index in 0..<view.shape.count {
                let name = view.shape.columns[index].name
                try context.expect(view.value(at: index), is: owned[name], "\(what): \(name) by position")
                try context.expect(view[name], is: owned[name], "\(what): \(name) by name")
                try context.expect(typed(view, index), is: owned[name], "\(what): \(name) by type")
            }
        }
    }

    /// Returns the value at a position, read by its type.
    private static func typed(_ view: borrowing RowView, _ index: Int) -> Value? {
        switch view.tag(at: index) {
        case .absent: nil
        case .null: .null
        case .false, .true: view.bool(at: index).map { .bool($0) }
        case .int: view.int(at: index).map { .int($0) }
        case .double: view.double(at: index).map { .double($0) }
        case .string: view.string(at: index).map { .string($0) }
        case .timestamp: view.timestamp(at: index).map { .timestamp($0) }
        case .bytes: view.withBytes(at: index) { .bytes(Array($0)) }
        case .json: view.withBytes(at: index) { .json(String(decoding: $0, as: UTF8.self)) }
        }
    }

    /// Expects the row of a table to have the number of another table's row with the same id, in nested lookups.
    private static func expectPair(
        _ id: RowID, _ number: Value?, in reader: any StoreReader, _ place: String, _ context: CheckContext
    ) throws {
        try reader.withRow(in: "AllTypes", id: id) { view in
            let other = try reader.row(in: "Note", id: id)
            try context.expect(
                other?["number"], is: number, "\(place), the lookup within a lookup of \(CheckContext.text(id))")
            try context.expect(view["int"], is: number, "\(place), the row borrowed from the outer lookup")
        }
    }
}
