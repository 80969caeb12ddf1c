#if Commands
import Testing
import TidelineBenchmark
import TidelineStore
import TidelineTestSupport
import TidelineWire

@testable import TidelineBaselines

@Suite("The baselines store the pages of a service")
struct BaselinePullTests {
    private let source = RowSource(table: BenchmarkTable(columns: 11), seed: 9, lists: 4)

    /// Pages in the format of a service.
    private func pages(_ batches: [RowBatch], perTransaction: Int = 1) -> JSONPages {
        let bodies = batches.map { batch in
            var writer = JSONWriter()
            writer.beginArray()
            for index in 0..<batch.packed.count {
                if index > 0 { writer.separator() }
                batch.packed.withRow(at: index) { writer.append($0) }
            }
            writer.endArray()
            return writer.bytes
        }
        return JSONPages(
            bodies: bodies, rows: batches.reduce(0) { $0 + $1.packed.count }, pagesPerTransaction: perTransaction)
    }

    @Test("A pull stores the rows and the token of its pages", arguments: Baselines.engines, [1, 3, 50])
    func pulls(engine: String, pagesPerTransaction: Int) throws {
        let batches = try source.batches(0..<230, of: 25)
        let model = ReferenceSession(source: source)
        _ = try model.perform(.upsert(batches))
        try withBaseline(engine, source.table) { session in
            let pull = Work.pull(pages(batches, perTransaction: pagesPerTransaction))
            #expect(try session.perform(pull) == Answer(count: 230))
            #expect(try session.perform(.scan(.view)) == model.perform(.scan(.view)))
            let newest = try #require(source.values(229).compactMap(\.timestamp).last)
            #expect(try #require(session as? BaselineSession).token() == newest.ticks)
        }
    }

    @Test("An invalid page changes nothing", arguments: Baselines.engines)
    func badPages(engine: String) throws {
        let good = pages([try source.batch([1, 2])]).bodies[0]
        try withBaseline(engine, source.table) { session throws in
            for bad in badPages(good) {
                let pages = JSONPages(bodies: [good, bad], rows: 2, pagesPerTransaction: 2)
                let text = String(decoding: bad, as: UTF8.self)
                #expect(throws: BaselineError.self, "\(text)") { try session.perform(.pull(pages)) }
                #expect(try session.perform(.scan(.view)) == Answer())
            }
        }
    }

    private func badPages(_ good: [UInt8]) -> [[UInt8]] {
        let texts = [
            "", "[", "{}", "[1]", "[{}]", #"[{"id":""}]"#, #"[{"id":7}]"#, #"[{"id":"a","rank":"1"}]"#,
            #"[{"id":"a","rank":1.5}]"#, #"[{"id":"a","rank":99999999999999999999}]"#, #"[{"id":"a","done":1}]"#,
            #"[{"id":"a","text":1}]"#, #"[{"id":"a","due":"yesterday"}]"#,
            #"[{"id":"a","due":"2026-02-30T00:00:00Z"}]"#, #"[{"id":"a","text":"\x"}]"#, #"[{"id":"a"}] 1"#,
            #"[{"id":"a"}] []"#, #"[{"id":"a","text":"b}]"#, "[{\"id\":\"a\",\"text\":\"\u{1}\"}]",
        ]
        var invalid = good
        invalid.replaceSubrange(20..<21, with: [0xFF])
        return texts.map { Array($0.utf8) } + [invalid, Array(good.dropLast()), Array(good.dropLast(3))]
    }

    @Test("Members may be in any order, missing, null, unknown or escaped")
    func members() throws {
        let body = """
             [ { "rank" : 5 , "id":"a", "text":"a \\"b\\" \\u00e9 ü", "other":{"text":[1]}, "score":3, "done":null },
             {"id":"b\\/c","updatedAt":"2026-01-01T00:00:00.1234567+01:00","list":"\\ud83c\\udf0a","score":-1e-3},
             {"te\\u0078t":"by escape","id":"d"}]
            """
        var rows = PackedRows(shape: source.table.schema.makeShape())
        let instant = try #require(Timestamp("2025-12-31T23:00:00.1234567Z"))
        let expected: [Row] = [
            ["id": "a", "rank": 5, "text": "a \"b\" é ü", "score": .double(3)],
            ["id": "b/c", "updatedAt": .timestamp(instant), "list": "🌊", "score": .double(-0.001)],
            ["id": "d", "text": "by escape"],
        ]
        for row in expected { try rows.append(completing: row) }
        let model = ReferenceSession(source: source)
        _ = try model.perform(.upsert([RowBatch(rows)]))
        try withBaseline("lmdb", source.table) { session throws in
            let pages = JSONPages(bodies: [Array(body.utf8)], rows: 3)
            #expect(try session.perform(.pull(pages)) == Answer(count: 3))
            #expect(try session.perform(.scan(.view)) == model.perform(.scan(.view)))
        }
    }

    @Test("The JSON parser reads every value of every row")
    func readsOnly() throws {
        let session = try Baselines.json.open(BenchmarkOpening(directory: "", table: source.table))
        let pages = pages(try source.batches(0..<60, of: 20))
        let numbers = (0..<60).map { RowChecksum.number(id: source.id($0), values: source.values($0)) }
        let expected = Answer(count: 60, checksum: numbers.reduce(0, &+))
        #expect(try session.perform(.parse(pages)) == expected)
        // A service sends all system columns.
        let served = try SyncServer(source, rows: 60).pages(of: 25)
        #expect(try session.perform(.parse(served)) == expected)
        #expect(throws: WorkNotApplicable.self) { try session.perform(.scan(.view)) }
    }
}
#endif
