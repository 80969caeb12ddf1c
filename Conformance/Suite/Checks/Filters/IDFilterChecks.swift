internal import TidelineStore

extension SampleTable {
    private static let idRows: [Row] = [
        ["id": "Item-A", "s": "Item-A"], ["id": "item-b", "s": "Item-B"], ["id": "x%_", "s": "x"],
        ["id": "\u{C9}", "s": "\u{C9}"], ["id": "it's", "s": "its"], ["id": "Z", "s": "z"],
    ]
    fileprivate static let foldedIDs = SampleTable(.string("s"), idMatching: .asciiCaseInsensitive, rows: idRows)
    fileprivate static let exactIDs = SampleTable(
        .string("s"), idMatching: .exact, rows: idRows + [["id": "ITEM-A", "s": "second"]])
    fileprivate static let intIDs = SampleTable(
        .int("n"), idType: .int,
        values: [
            1: [1], 2: [20], 10: [10], -1: [0], .int(.min): [], .int(.max): [.int(.max)], .int(1 << 53 + 1): [],
        ])
}

private let s = RowPredicate.column("s")

extension Check {
    /// Conditions on `id`.
    static let filterIDs: [Check] = [
        Check(
            "FIL-123", "If ids are case-insensitive, so are ==, !=, and membership of `id`",
            why: "Servers may send the same id in another case, and the sync core queries with it.", over: .foldedIDs
        ) { table in
            table.finds(.id == "ITEM-a", "Item-A")
            table.finds("item-A" == .id, "Item-A")
            table.finds(.id != "ITEM-A", "it's", "item-b", "x%_", "Z", "\u{C9}")
            table.finds(.id.isIn(["ITEM-B", "z", "nothing"]), "item-b", "Z")
            table.finds(!.id.isIn(["ITEM-B", "z"]), "it's", "Item-A", "x%_", "\u{C9}")
            table.findsNothing(.id == .null)
        },
        Check("FIL-124", "If ids are case-insensitive, so are ranges of `id`", over: .foldedIDs) { table in
            table.finds(.id < "ITEM-B", "it's", "Item-A")
            table.finds(.id >= "ITEM-a" && .id <= "ITEM-b", "Item-A", "item-b")
            table.finds(.id > "X", "x%_", "Z", "\u{C9}")
            table.finds("y" < .id, "Z", "\u{C9}")
        },
        Check("FIL-125", "The case-insensitivity of ids applies only to ASCII letters", over: .foldedIDs) { table in
            table.finds(.id == "\u{C9}", "\u{C9}")
            table.findsNothing(.id == "\u{E9}")
            table.findsNothing(.id == "E\u{301}")
            table.findsNothing(.id.isIn(["\u{E9}"]))
        },
        Check(
            "FIL-126", "Functions use the stored id, and other columns are not matched like ids",
            why: "Id matching applies only to the column `id` itself in a comparison or membership.", over: .foldedIDs
        ) { table in
            table.finds(.id.hasPrefix("Item"), "Item-A")
            table.finds(.id.contains("tem"), "Item-A", "item-b")
            table.finds(.id.appending("") == "Item-A", "Item-A")
            table.findsNothing(.id.appending("") == "item-A")
            table.finds(.id.equalsIgnoringCase("ITEM-A"), "Item-A")
            table.finds(.id.length == 1, "Z", "\u{C9}")
            table.findsNothing(s == "item-a")
            table.finds(.id.contains("%_"), "x%_")
        },
        Check("FIL-127", "`id` is compared with a column by id matching", over: .foldedIDs) { table in
            table.finds(.id == s, "Item-A", "item-b", "Z", "\u{C9}")
            table.finds(s != .id, "it's", "x%_")
        },
        Check("FIL-128", "If ids match exactly, conditions on `id` are case-sensitive", over: .exactIDs) { table in
            table.finds(.id == "Item-A", "Item-A")
            table.finds(.id == "ITEM-A", "ITEM-A")
            table.findsNothing(.id == "item-a")
            table.finds(.id.isIn(["Item-A", "item-B", "z"]), "Item-A")
            table.finds(.id < "Z", "ITEM-A", "Item-A")
            table.finds(.id != "Z", "ITEM-A", "Item-A", "it's", "item-b", "x%_", "\u{C9}")
        },
        Check("FIL-129", "An int id is compared exactly as a number", over: .intIDs) { table in
            table.finds(.id == 2, 2)
            table.finds(.id == 10.0, 10)
            table.finds(.id > 2, 10, .int(1 << 53 + 1), .int(.max))
            table.finds(.id < 1, .int(.min), -1)
            table.finds(.id.isIn([10, -1, 3]), -1, 10)
            table.findsNothing(.id == .literal(.double(0x1p53)))
            table.finds(.id == .literal(.double(-0x1p63)), .int(.min))
            table.finds(.literal(.double(-0x1p63)) == .id, .int(.min))
            table.finds(.id.isIn([.double(-0x1p63), 2]), .int(.min), 2)
            table.finds(.id == .column("n"), 1, 10, .int(.max))
            table.finds(.id % 2 == 1, 1, .int(1 << 53 + 1), .int(.max))
        },
    ]
}
