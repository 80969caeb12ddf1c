#if Commands
import Testing
import TidelineBaselines
import TidelineBenchmark
import TidelineStore
import TidelineTestSupport

@Suite("The baselines give the reference's answers")
struct BaselineParityTests {
    /// All kinds of work, in an order in which later works depend on earlier ones.
    private static func works(_ source: RowSource) throws -> [(String, Work)] {
        let ids = { (range: Range<Int>) in range.map { source.id($0) } }
        let lists = (0..<5).map { source.filter($0) }
        return [
            ("scan of nothing", .scan(.view)), ("find nothing", .find(lists, limit: 5)),
            ("upsert", .upsert(try source.batches(0..<250, of: 60))),
            ("upsert of rows", .upsertRows(try source.batches(250..<300, of: 50, asRows: true))),
            ("upsert of records", .upsertRecords(try source.recordBatches(240..<300, of: 50))),
            ("get each", .get(ids: ids(150..<400), access: .view, transaction: .each)),
            ("get in one", .get(ids: ids(0..<350), access: .view, transaction: .one)),
            ("scan", .scan(.view)), ("find", .find(lists, limit: 7)), ("find all", .find(lists, limit: 1000)),
            ("find none", .find(lists, limit: 0)), ("count", .count(lists + [RowFilter(list: "list-0000")])),
            ("upsert again", .upsert(try source.batches(100..<320, of: 75))),
            ("a row twice in a transaction", .upsert([try source.batch([700, 701, 700, 3, 3])])),
            ("find after", .find(lists, limit: 30)),
            ("delete", .delete([ids(50..<90), ids(75..<100), ids(900..<910), ids(10..<12) + ids(10..<12)])),
            ("find the remaining rows", .find(lists, limit: 1000)),
            ("delete a list", .deleteMatching([lists[1], lists[1], RowFilter(list: "none")])),
            ("scan the remaining rows", .scan(.view)), ("count the remaining rows", .count(lists)),
            ("delete all lists", .deleteMatching(lists)), ("scan of the empty table", .scan(.view)),
            ("upsert into the empty table", .upsert(try source.batches(0..<150, of: 150))),
            ("mix", .mix(try steps(source))), ("scan after the mix", .scan(.view)),
            ("find after the mix", .find(lists, limit: 9)),
            ("move rows to other lists, one of them twice", .upsert([try otherRows(source, Array(20..<60) + [25])])),
            ("find in other lists", .find(lists, limit: 1000)), ("count in other lists", .count(lists)),
            ("insert locally", .insertLocally(try source.batches(400..<420, of: 7))),
            ("reopen", .reopen(times: 2, id: source.id(7))),
            ("insert locally after opening", .insertLocally(try source.batches(420..<422, of: 1))),
            ("scan after opening", .scan(.view)),
            ("count after opening", .count(lists)),
        ]
    }

    /// Rows with the given ids and other values.
    private static func otherRows(_ source: RowSource, _ indexes: [Int]) throws -> RowBatch {
        var rows = PackedRows(shape: source.table.schema.makeShape())
        for (position, index) in indexes.enumerated() {
            rows.beginRow()
            rows.setID(source.id(index))
            for (column, value) in source.values(5000 + position).enumerated() { rows.set(value, at: column) }
            try rows.endRow()
        }
        return RowBatch(rows)
    }

    private static func steps(_ source: RowSource) throws -> [MixedStep] {
        [
            .read(source.id(3)), .read(source.id(149)), .update(source.id(4), text: "another text"),
            .update(source.id(5), text: ""), .update(source.id(6), text: String(repeating: "long", count: 18_000)),
            .update(source.id(6), text: "short"), .update(source.id(7), text: String(repeating: "x", count: 70_000)),
            .insert(try source.batch([160])), .readModifyWrite(source.id(8), text: "read, then written"),
            .read(source.id(8)), .scan(from: source.id(20), count: 25), .scan(from: "zzz", count: 25),
            .scan(from: "0", count: 1000), .read(source.id(160)),
        ]
    }

    @Test("Every work gives the reference's answer", arguments: Baselines.engines, [false, true])
    func answersAreTheModels(engine: String, isIndexed: Bool) throws {
        for (seed, order) in zip([1, 2, 3] as [UInt64], KeyOrder.allCases) {
            let table = BenchmarkTable(columns: 12, isIndexed: isIndexed)
            let source = RowSource(table: table, keyOrder: order, seed: seed, lists: 5)
            let model = ReferenceSession(source: source)
            try withBaseline(engine, table) { session in
                for (name, work) in try Self.works(source) {
                    #expect(try session.perform(work) == model.perform(work), "\(name), seed \(seed)")
                }
            }
        }
    }

    @Test("Every durability of the engine gives the reference's answers", arguments: Baselines.engines)
    func durabilities(engine: String) throws {
        let source = RowSource(table: BenchmarkTable(), seed: 1, lists: 2)
        let model = ReferenceSession(source: source)
        let upsert = Work.upsert(try source.batches(0..<20, of: 5))
        _ = try model.perform(upsert)
        for durability in [StoreCapabilities.Durability.none, .normal, .full] {
            guard Baselines.subject(engine: engine, durability: durability) != nil else {
                #expect(durability == .none && engine != "lmdb")
                continue
            }
            try withBaseline(engine, source.table, durability) { session throws in
                #expect(try session.perform(upsert).count == 20)
                #expect(try session.perform(.scan(.view)) == model.perform(.scan(.view)))
            }
        }
    }

    @Test("Concurrent readers beside a writer give the reference's answers", arguments: Baselines.engines)
    func threads(engine: String) async throws {
        let source = RowSource(table: BenchmarkTable(isIndexed: true), seed: 5, lists: 3)
        let model = ReferenceSession(source: source)
        let upsert = Work.upsert(try source.batches(0..<200, of: 50))
        _ = try model.perform(upsert)
        let reads: [Work] = [
            .get(ids: (0..<200).map { source.id($0) }, access: .view, transaction: .each),
            .get(ids: (0..<200).map { source.id($0) }, access: .view, transaction: .one),
            .scan(.view), .find([source.filter(1)], limit: 20), .count([source.filter(2)]),
        ]
        let expected = try reads.map { try model.perform($0) }
        let folder = try TemporaryFolder()
        let session = try openBaseline(engine, source.table, folder.path)
        _ = try session.perform(upsert)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for thread in 0..<6 {
                group.addTask {
                    try (0..<10).allSatisfy { round in
                        let index = (thread + round) % reads.count
                        return try session.perform(reads[index]) == expected[index]
                    }
                }
            }
            group.addTask {
                // Writes existing rows, so that the answers do not change.
                try (0..<10).allSatisfy { _ in try session.perform(upsert).count == 200 }
            }
            for try await isRight in group { #expect(isRight) }
        }
        try session.close()
    }
}

/// Calls `body` with the session of a baseline in a new directory.
func withBaseline(
    _ engine: String, _ table: BenchmarkTable, _ durability: StoreCapabilities.Durability = .normal,
    _ body: (any BenchmarkSession) throws -> Void
) throws {
    try withTemporaryFolder { folder in
        let session = try openBaseline(engine, table, folder, durability)
        try body(session)
        try session.close()
    }
}

func openBaseline(
    _ engine: String, _ table: BenchmarkTable, _ folder: String, _ durability: StoreCapabilities.Durability = .normal
) throws -> any BenchmarkSession {
    let subject = try #require(Baselines.subject(engine: engine, durability: durability))
    return try subject.open(BenchmarkOpening(directory: folder, table: table))
}
#endif
