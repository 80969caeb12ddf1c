internal import TidelineStore

extension SampleTable {
    fileprivate static let members = SampleTable(
        .int("int"), .double("double"), .string("string"), .bool("bool"), .timestamp("timestamp"), .bytes("bytes"),
        .json("json"),
        values: [
            "a": [1, 1.0, "it's", true, .ticks(10), .bytes([1]), .json("[1]")],
            "b": [2, 2.5, "Its", false, .ticks(20), .bytes([1, 0]), .json("{}")],
            "c": [.int(1 << 53 + 1), -0.0, "100%"], "d": [], "e": [.int(.min), 0x1p53, ""],
        ])
}

private let int = RowPredicate.column("int")
private let double = RowPredicate.column("double")
private let string = RowPredicate.column("string")

extension Check {
    /// Membership in a list of values.
    static let filterMembership: [Check] = [
        Check("FIL-028", "A membership finds the rows that equal one of the values", over: .members) { table in
            table.finds(int.isIn([1, 2, 99]), "a", "b")
            table.finds(int.isIn([99, .int(.min)]), "e")
            table.finds(!int.isIn([1, 2, 99]), "c", "d", "e")
            table.findsNothing(int.isIn([99]))
        },
        Check(
            "FIL-029", "A membership in an empty list holds for no row, and its negation for every row",
            why: "If a condition with an empty list is omitted, it finds everything, and deletes everything.",
            over: .members
        ) { table in
            table.findsNothing(int.isIn([]))
            table.findsAll(!int.isIn([]))
            table.findsNothing(.column("id").isIn([]))
            table.findsNothing(string == "" && int.isIn([]))
            table.finds(string == "" || int.isIn([]), "e")
        },
        Check("FIL-030", "A membership with null in the list finds the rows without a value", over: .members) { table in
            table.finds(int.isIn([.null, 1]), "a", "d")
            table.finds(int.isIn([.null]), "d")
            table.finds(string.isIn(["", .null]), "d", "e")
        },
        Check(
            "FIL-031", "The negation of a membership finds the rows without a value unless null is in the list",
            why: "In SQL, NOT IN with a null in the list holds for no row.", over: .members
        ) { table in
            table.finds(!int.isIn([1]), "b", "c", "d", "e")
            table.finds(!int.isIn([1, .null]), "b", "c", "e")
            table.finds(!string.isIn([.null]), "a", "b", "c", "e")
        },
        Check(
            "FIL-032", "A duplicate value in the list finds its row once",
            why: "A store that looks up each value in an index must not return, count, or delete a row twice.",
            over: .members
        ) { table in
            table.finds(int.isIn([2, 1, 2, 1, 1.0]), "a", "b")
            table.finds(int.isIn([1, 1]) || int.isIn([1, 2]), "a", "b")
            table.finds(.column("id").isIn(["a", "A", "a"]), "a")
        },
        Check("FIL-033", "A membership compares ints and doubles by exact value", over: .members) { table in
            table.finds(int.isIn([1.0, 1.5, .double(0x1p53), .double(-0x1p63)]), "a", "e")
            table.finds(double.isIn([0, 1]), "a", "c")
            table.finds(double.isIn([.int(1 << 53 + 1), .int(1 << 53)]), "e")
            table.findsNothing(double.isIn([.double(.nan)]))
        },
        Check(
            "FIL-034", "A membership of texts is case-sensitive and takes quotes and wildcards literally",
            over: .members
        ) { table in
            table.finds(string.isIn(["its", "it's", "IT'S"]), "a")
            table.findsNothing(string.isIn(["1%", "100_", "%"]))
            table.finds(string.isIn(["100%", "Its"]), "b", "c")
            table.findsNothing(string.isIn(["') OR ('1'='1"]))
        },
        Check("FIL-035", "A membership accepts values of every type", over: .members) { table in
            table.finds(.column("bool").isIn([false]), "b")
            table.finds(.column("timestamp").isIn([.ticks(10), .ticks(11)]), "a")
            table.finds(.column("bytes").isIn([.bytes([1, 0]), .bytes([])]), "b")
            table.finds(.column("json").isIn([.json("{}"), .json("[ 1]")]), "b")
            table.finds(double.isIn([2.5]), "b")
        },
        Check("FIL-036", "A value of another type in the list is an error that names table and column") { context in
            try context.expectRefusal(
                of: [
                    (.column("n").isIn(["1"]), "n"), (.column("n").isIn([2, .null, true]), "n"),
                    (.column("s").isIn(["a", .json("[1]")]), "s"), (.column("j").isIn(["[1]"]), "j"),
                    (.column("n") == 1 && .column("id").isIn([1]), "id"),
                ], .invalidValue)
        },
        Check("FIL-037", "A membership accepts an expression, not only a column", over: .members) { table in
            table.finds(string.length.isIn([3, 0]), "b", "e")
            table.finds((int % 2).isIn([1, .null]), "a", "c", "d")
            table.finds(string.lowercased.isIn(["its"]), "b")
        },
        Check(
            "FIL-038", "A membership accepts 5,000 values",
            why: "A push reads the rows of its whole queue; engines limit the values of a statement.", over: .members,
            readOnly: true
        ) { table in
            let values = (2...5_001).map { Value.int($0) }
            table.finds(int.isIn(values), "b")
            table.finds(!int.isIn(values), "a", "c", "d", "e")
            table.finds(string.isIn((0..<5_000).map { .string("v\($0)") } + ["100%"]), "c")
        },
    ]
}
