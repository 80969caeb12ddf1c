import Testing
import TidelineStore
import TidelineTestStores
import TidelineConformance

@Suite struct ValueTests {
    private static let values: [ColumnType: [Value]] = [
        .bool: [true, false],
        .int: [.int(.min), .int(.max), .int(1 << 53 + 1), .int(1 << 53 - 1), 0, -1],
        .double: [
            -0.0, 0.0, 1.0, .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude), 0.1,
            .double(9_007_199_254_740_994), 1e300,
        ],
        .string: RandomValues.texts.map { .string($0) } + [.string(String(repeating: "é", count: 500_000))],
        .timestamp: [
            .timestamp(.min), .timestamp(.max), .timestamp(Timestamp(clampingTicks: 0)),
            .timestamp(Timestamp(clampingTicks: -1)), .timestamp(Timestamp(clampingTicks: 17_672_256_000_000_001)),
        ],
        .bytes: [
            .bytes([]), .bytes(Array(0...255)), .bytes([0]), .bytes(Array(repeating: 7, count: 4_000_000)),
        ],
        .json: [
            .json("{}"), .json("[]"), .json("[1, 2]"), .json("{\"b\":1,\"a\":\"\\u0000\"}"), .json("12"),
            .json(String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)),
        ],
    ]

    @Test(arguments: StoreKind.all, ColumnType.allCases)
    func valuesComeBackWithTheirTypeBitForBit(_ subject: StoreKind, _ type: ColumnType) throws {
        let schema = TableSchema("t", columns: [ColumnSchema("v", type), .int("n")], indexes: [["v"]])
        try subject.withStore(schema) { store throws in
            var values = try #require(Self.values[type]) + [.null]
            if type == .double, store.capabilities.storesInfinity {
                values += [.double(.infinity), .double(-.infinity)]
            }
            let rows: [Row] = values.enumerated().map { ["id": .string("\($0)"), "v": $1, "n": .int(Int64($0))] }
            try store.write { try $0.upsert(rows, into: "t") }
            for (index, value) in values.enumerated() {
                let looked = try store.read { try $0.row(in: "t", id: "\(index)") }
                #expect(Self.isSame(looked?["v"], value), "\(index)")
                let query = Query("t", predicate: .column("n") == .literal(.int(Int64(index))))
                let found = try store.read { try $0.rows(matching: query).rows.first }
                #expect(Self.isSame(found?["v"], value), "\(index)")
                let equal = Query("t", predicate: .column("v") == .literal(value))
                #expect(try store.read { try $0.ids(equal) }.contains("\(index)"), "\(index)")
            }
        }
    }

    private static func isSame(_ a: Value?, _ b: Value) -> Bool {
        if case .double(let x)? = a, case .double(let y) = b { return x.bitPattern == y.bitPattern }
        return a == b
    }

    @Test(arguments: StoreKind.all)
    func notANumberIsStoredOrRefusedAsDeclared(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            let row: Row = ["id": "1", "score": .double(.nan)]
            guard !store.capabilities.storesNaN else {
                try store.write { try $0.upsert(row, into: "TodoItem") }
                #expect(try store.read { try $0.row(in: "TodoItem", id: "1")?["score"]?.double?.isNaN } == true)
                return
            }
            let error = expectError(.invalidValue) { try store.write { try $0.upsert(row, into: "TodoItem") } }
            #expect(error?.column == "score" && error?.id == "1")
        }
    }

    @Test(arguments: StoreKind.all, [IDMatching.asciiCaseInsensitive, .exact])
    func idsOfAllCharactersAreKeptApart(_ subject: StoreKind, _ matching: IDMatching) throws {
        let ids = [
            "a", "a\0", "a\0b", "aa", "\0", "'", "\"", "/", "\\", "%", "_", ";", "&", "<", " ", "  ", "é", "e\u{301}",
            "É", "😀", "{}", "1", "01", "1.0", "null", String(repeating: "x", count: 255),
            String(repeating: "😀", count: 255),
        ]
        try subject.withStore(TableSchema("t", columns: [.int("n")], idMatching: matching)) { store throws in
            let rows: [Row] = ids.enumerated().map { ["id": .string($1), "n": .int(Int64($0))] }
            try store.write { try $0.upsert(rows, into: "t") }
            try store.read { reader throws in
                #expect(try reader.count(Query("t")) == ids.count)
                for (index, id) in ids.enumerated() {
                    #expect(try reader.row(in: "t", id: .string(id))?["n"] == .int(Int64(index)))
                    let query = Query("t", predicate: .column("id") == .literal(.string(id)))
                    #expect(try reader.rows(matching: query).rows.map { $0["n"] } == [.int(Int64(index))])
                }
            }
            for id in ids { #expect(try store.write { try $0.delete(ids: [.string(id)], from: "t") } == 1) }
        }
    }

    @Test(arguments: StoreKind.all)
    func idsThatAreEmptyOrTooLongAreRefused(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            let limit = store.capabilities.maximumIDLength
            for id in ["", String(repeating: "a", count: limit + 1), String(repeating: "😀", count: limit + 1)] {
                let error = expectError(.invalidValue) {
                    try store.write { try $0.upsert(Row(id: .string(id)), into: "TodoItem") }
                }
                #expect(error?.column == "id")
            }
            expectError(.invalidValue) { try store.write { try $0.upsert(["text": "no id"], into: "TodoItem") } }
            expectError(.invalidValue) { try store.write { try $0.upsert(Row(id: .int(1)), into: "TodoItem") } }
        }
    }

    @Test(arguments: StoreKind.all)
    func integerIDsOrderAsNumbers(_ subject: StoreKind) throws {
        try subject.withStore(TableSchema("t", columns: [.int("n")], idType: .int, indexes: [["n"]])) { store throws in
            let ids: [Int64] = [.max, 10, -1, 9, 0, .min]
            try store.write { try $0.upsert(ids.map { Row(id: .int($0)) }, into: "t") }
            #expect(try store.read { try $0.allRows("t").map(\.key) } == ids.sorted().map { .int($0) })
            #expect(try store.read { try $0.row(in: "t", id: "10") } == nil)
            #expect(try store.write { try $0.delete(ids: [.int(.min), "9"], from: "t") } == 1)
            let query = Query("t", predicate: .column("id") >= 9).order(by: "n").order(by: "id", descending: true)
            #expect(try store.read { try $0.ids(query) } == ["\(Int64.max)", "10", "9"])
        }
    }
}
