import Testing
import TidelineBenchmark
import TidelineTestSupport

@Suite("Readers of JSON")
struct JSONSubjectTests {
    private static let source = RowSource(table: BenchmarkTable(), seed: 9, lists: 3)

    @Test("Each reads every value of every row", arguments: JSONSubjects.all.map(\.name))
    func readsAll(name: String) throws {
        let subject = try #require(JSONSubjects.all.first { $0.name == name })
        let session = try subject.open(BenchmarkOpening(directory: "", table: Self.source.table))
        let pages = try SyncServer(Self.source, rows: 120).pages(of: 50)
        let numbers = (0..<120).map { RowChecksum.number(id: Self.source.id($0), values: Self.source.values($0)) }
        #expect(pages.bodies.count == 3 && pages.rows == 120)
        let answer = try session.perform(.parse(pages), noting: LatencySink())
        #expect(answer == Answer(count: 120, checksum: numbers.reduce(0, &+)))
        try session.close()
    }

    @Test("A page that is no JSON is an error of each", arguments: JSONSubjects.all.map(\.name))
    func refusesOther(name: String) throws {
        let subject = try #require(JSONSubjects.all.first { $0.name == name })
        let session = try subject.open(BenchmarkOpening(directory: "", table: Self.source.table))
        for text in ["", "{", #"[{"text":"no id"}]"#, "[1]"] {
            let pages = JSONPages(bodies: [Array(text.utf8)], rows: 1)
            #expect(throws: (any Error).self) { try session.perform(.parse(pages), noting: LatencySink()) }
        }
    }
}
