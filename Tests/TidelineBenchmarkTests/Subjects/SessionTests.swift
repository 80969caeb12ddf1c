#if Commands
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineBenchmark

@Suite("A store as a subject")
struct StoreSessionTests {
    @Test("Every access computes the checksum of the rows", arguments: StoreKind.all, [10, 12])
    func readsWhatWasWritten(kind: StoreKind, columns: Int) throws {
        let source = RowSource(table: BenchmarkTable(columns: columns), seed: 3, lists: 4)
        let numbers = (0..<50).map { RowChecksum.number(id: source.id($0), values: source.values($0)) }
        let reference = ReferenceSession(source: source)
        _ = try reference.perform(.upsert(source.batches(0..<50, of: 50)))
        try withSession(kind, source.table) { session throws in
            #expect(try session.perform(.upsert(source.batches(0..<50, of: 20))) == Answer(count: 50))
            // A record has ten columns.
            for access in Work.Access.allCases where access != .record || columns == 10 {
                for transaction in [Work.Transaction.each, .one] {
                    let ids = (0..<60).map { source.id($0) }
                    let work = Work.get(ids: ids, access: access, transaction: transaction)
                    let expected = Answer(count: 50, checksum: numbers.reduce(0, &+))
                    #expect(try session.perform(work) == expected)
                }
                #expect(try session.perform(.scan(access)) == reference.perform(.scan(access)))
            }
        }
    }

    @Test("Records write what packed rows write")
    func writesRecords() throws {
        let source = RowSource(table: BenchmarkTable(), seed: 3, lists: 4)
        let batches = try source.recordBatches(0..<50, of: 20)
        let reference = ReferenceSession(source: source)
        try withSession(.simplest, source.table) { session throws in
            for work in [Work.upsertRecords(batches), .scan(.view)] {
                #expect(try session.perform(work) == reference.perform(work))
            }
        }
    }

    @Test("Records are not applicable to a table with columns that they lack")
    func refusesRecordsOfOtherTables() throws {
        let source = RowSource(table: BenchmarkTable(columns: 12), seed: 3, lists: 4)
        let works: [Work] = [
            .upsertRecords(try source.recordBatches(0..<50, of: 20)), .scan(.record),
            .get(ids: [source.id(0)], access: .record, transaction: .each),
            .get(ids: [source.id(0)], access: .record, transaction: .one),
        ]
        try withSession(.simplest, source.table) { session in
            for work in works { #expect(throws: WorkNotApplicable.self) { try session.perform(work) } }
        }
    }
}

/// Calls `body` with a session of a store in a new directory.
func withSession(_ kind: StoreKind, _ table: BenchmarkTable, _ body: (any BenchmarkSession) throws -> Void) throws {
    try withTemporaryFolder { folder in
        let subject = try BenchmarkStore { try kind.open($0) }.makeSubject()
        let session = try subject.open(BenchmarkOpening(directory: folder, table: table))
        try body(session)
        try session.close()
    }
}

@Suite("JSON parsers")
struct JSONSubjectTests {
    private static let source = RowSource(table: BenchmarkTable(), seed: 9, lists: 3)

    @Test(
        "Every parser reads every value of every row, and rejects an invalid page",
        arguments: JSONSubjects.all.map(\.name))
    func reads(name: String) throws {
        let subject = try #require(JSONSubjects.all.first { $0.name == name })
        let session = try subject.open(BenchmarkOpening(directory: "", table: Self.source.table))
        let pages = try SyncServer(Self.source, rows: 120).pages(of: 50)
        let numbers = (0..<120).map { RowChecksum.number(id: Self.source.id($0), values: Self.source.values($0)) }
        #expect(pages.bodies.count == 3 && pages.rows == 120)
        #expect(try session.perform(.parse(pages)) == Answer(count: 120, checksum: numbers.reduce(0, &+)))
        for text in ["", "{", #"[{"text":"no id"}]"#, "[1]"] {
            let pages = JSONPages(bodies: [Array(text.utf8)], rows: 1)
            #expect(throws: (any Error).self) { try session.perform(.parse(pages)) }
        }
        try session.close()
    }
}
#endif
