internal import TidelineStore

extension TableSchema {
    /// A table without rows unless a check stores some, because the validity of a query does not depend on rows.
    fileprivate static let asked = TableSchema(
        "Asked",
        columns: [.string("s"), .int("n"), .double("d"), .bool("b"), .timestamp("at"), .bytes("raw"), .json("j")],
        indexes: [["n"], ["s"]])
}

private let s = RowPredicate.column("s")
private let n = RowPredicate.column("n")

extension CheckContext {
    /// Fails unless every use of a condition throws the error, with and without rows, and the store still works.
    fileprivate func expectRefusal(
        of predicates: [RowPredicate], _ code: StoreError.Code, column: String? = nil, table: String = "Asked"
    ) throws {
        try expectRefusal(of: predicates.map { ($0, column) }, code, table: table)
    }

    /// Fails unless every use of a condition throws an error that names its column, one of each type.
    func expectRefusal(
        of predicates: [(predicate: RowPredicate, column: String?)], _ code: StoreError.Code, table: String = "Asked"
    ) throws {
        let store = try store(.asked)
        for isFilled in [false, true] {
            if isFilled { try store.put(["id": "1", "s": "a", "n": 1, "b": true], into: "Asked") }
            for (predicate, column) in predicates {
                let query = TableQuery(table, predicate: predicate)
                try expectRefused(query, by: store, code, column: column)
                let what = "count of \(CheckContext.text(query))"
                try expectError(code, what, table: table, column: column) { _ = try store.count(query) }
            }
        }
        try expect(TableQuery("Asked", predicate: n == 1), in: store, finds: ["1"], "after the errors")
    }

    /// Fails unless a query and a deletion by it throw an error that names the table and the column.
    func expectRefused(
        _ query: TableQuery, by store: TracedStore, _ code: StoreError.Code, column: String? = nil
    ) throws {
        let what = CheckContext.text(query)
        try expectError(code, what, table: query.table, column: column) { _ = try store.rows(matching: query) }
        try expectError(code, "deletion by \(what)", table: query.table, column: column) {
            try store.delete(matching: query)
        }
    }
}

extension Check {
    /// Invalid conditions.
    static let filterErrors: [Check] = [
        Check(
            "FIL-130", "A column that the table does not define is an error, naming the column",
            why: "Engines treat an unknown name as a text or null: a misspelled condition finds nothing, or all."
        ) { context in
            try context.expectRefusal(
                of: [.column("nope") == 1, .column("nope").isNull, 1 == .column("nope"), .column("nope")],
                .invalidValue, column: "nope")
        },
        Check("FIL-131", "An unknown column is detected at any position in the condition") { context in
            let unknown = RowPredicate.column("nope")
            try context.expectRefusal(
                of: [
                    .or([true, unknown == 1]), .and([false, .not(unknown == 1)]), s.appending(unknown) == "a",
                    n + unknown > 1, unknown.isIn([]), .or([n == 1, .and([s == "a", unknown.length == 1])]),
                ], .invalidValue, column: "nope")
        },
        Check(
            "FIL-132", "Column names that differ in case are different names",
            why: "SQL names are case-insensitive: 'N' would be 'n' in one store and an error in another."
        ) { context in
            try context.expectRefusal(of: [.column("N") == 1], .invalidValue, column: "N")
        },
        Check("FIL-133", "A system column that the table does not have is unknown") { context in
            try context.expectRefusal(of: [.column("deleted") == true], .invalidValue, column: "deleted")
        },
        Check("FIL-134", "A predicate that is not a condition is refused with `unsupportedQuery`") { context in
            try context.expectRefusal(of: [1, "true", n, s, n + 1, s.length, .column("at")], .unsupportedQuery)
        },
        Check("FIL-135", "and, or, and not accept only conditions") { context in
            try context.expectRefusal(
                of: [.not(n), .and([n]), .or([true, s]), .and([.column("b"), .not(.or([1]))]), .not(s.length)],
                .unsupportedQuery)
        },
        Check(
            "FIL-136", "A function with operands of the wrong type is refused, not answered",
            why: "Engines convert: the upper case of 12 becomes '12', and the year of a text its first digits."
        ) { context in
            try context.expectRefusal(
                of: [
                    n.lowercased == "a", s.year == 1, n.length == 1, s.floor == 1, .column("at").trimmed == "a",
                    .column("j").length == 1, s.contains(1), n.equalsIgnoringCase("a"), .column("b").rounded == 1,
                    s.substring(from: "1") == "a", s.substring(from: 1.5) == "a", .column("at").hasPrefix("2"),
                ], .unsupportedQuery)
        },
        Check("FIL-137", "A function with too few or too many operands is refused") { context in
            try context.expectRefusal(
                of: [
                    .function(.length, []) == 1, .function(.length, [s, s]) == 1, .function(.contains, [s]),
                    .function(.replace, [s, s]) == "a", .function(.substring, [s]) == "a",
                    .function(.substring, [s, 1, 1, 1]) == "a",
                ], .unsupportedQuery)
        },
        Check("FIL-138", "Arithmetic accepts only numbers") { context in
            try context.expectRefusal(
                of: [s + 1 == 1, 1 - s == 1, .column("b") * 2 == 2, .column("at") + 1 > 0, s + "a" == "aa"],
                .unsupportedQuery)
        },
        Check("FIL-139", "A query of an undefined table fails with `noSuchTable`, naming the table") { context in
            try context.expectRefusal(of: [n == 1, .column("nope") == 1, .and([])], .noSuchTable, table: "Nowhere")
        },
        Check(
            "FIL-148", "A query is validated even if no row is needed to answer it: limit 0, or nothing can match",
            why: "A store that answers immediately accepts an invalid query until its limit changes."
        ) { context in
            let unknown = RowPredicate.column("nope") == 1
            try context.expectRefusal(
                of: [.and([.or([]), unknown]), .or([.and([]), unknown]), .and([n.isIn([]), unknown])],
                .invalidValue, column: "nope")
            let store = try context.store(.asked, holding: [["id": "1", "n": 1]], in: context.unusedName)
            let all = TableQuery("Asked")
            for query in [all.filter(unknown), all.order(by: "nope"), all.select("nope")] {
                for empty in [query.limit(0), query.skip(9), query.skip(.max).limit(.max), query.filter(n == 2)] {
                    try context.expectRefused(empty, by: store, .invalidValue, column: "nope")
                }
            }
            try context.expectRefused(all.filter(n).limit(0), by: store, .unsupportedQuery)
        },
    ]
}
