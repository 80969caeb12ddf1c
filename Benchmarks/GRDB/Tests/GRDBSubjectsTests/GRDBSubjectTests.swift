import Foundation
import GRDBSubjects
import Testing
import TidelineBenchmark
import TidelineStore

@Suite("GRDB as a subject")
struct GRDBSubjectTests {
    @Test("Each style gives the reference's answers", arguments: GRDBSubject.names, [false, true])
    func answersAsTheModel(name: String, isIndexed: Bool) throws {
        let source = RowSource(table: BenchmarkTable(isIndexed: isIndexed), seed: 5, lists: 6)
        let reference = ReferenceSession(source: source)
        try withSession(name, source.table) { session in
            for (position, work) in try works(source).enumerated() {
                try session.prepare(work)
                let answer = try session.perform(work, noting: LatencySink())
                #expect(try answer == reference.perform(work, noting: LatencySink()), "work \(position)")
            }
        }
    }

    @Test("Each style delivers each commit to its observations", arguments: GRDBSubject.names)
    func observes(name: String) throws {
        let source = RowSource(table: BenchmarkTable(isIndexed: true), seed: 5, lists: 6)
        let list = source.filter(2)
        let none = TableQuery("items").filter(.column("list") == "none").order(by: "rank").limit(50)
        let low = TableQuery("items").filter(.column("score").isBetween(-4.0, and: -1.0)).order(by: "rank").limit(50)
        let changes = (0..<20).map { number in
            TidelineStore.Row(id: source.id(number)).merging(["list": .string(list.list), "rank": .int(-number)])
        }
        try withSession(name, source.table) { session in
            let perform = { try session.perform($0, noting: LatencySink()) }
            _ = try perform(.upsert(try source.batches(0..<100, of: 30)))
            for watched in [nil, list.query(source.table), TableQuery("items").order(by: "rank", descending: true)] {
                #expect(try perform(.sync(.live(.start([none, low], watched: watched)))) == Answer())
                #expect(try perform(.sync(.live(.commit(changes)))) == Answer(count: 20))
                #expect(try perform(.sync(.live(.stop))) == Answer())
            }
            #expect(try perform(.sync(.live(.commit(changes)))) == Answer(count: 20))
            let isInList = { source.list(of: $0) == 2 || $0 < 20 }
            #expect(try perform(.count([list])) == Answer(count: (0..<100).count(where: isInList)))
            let other = TableQuery("items").filter(.column("text").hasPrefix("a"))
            #expect(throws: WorkNotApplicable.self) { try perform(.sync(.live(.start([other], watched: nil)))) }
        }
    }

    @Test("A table with more columns than the record is rejected")
    func refusesOtherTables() throws {
        let table = BenchmarkTable(columns: 12)
        try withFolder { folder in
            for subject in GRDBSubject.names.compactMap({ GRDBSubject.named($0) }) {
                #expect(throws: WorkNotApplicable.self) {
                    try subject.open(BenchmarkOpening(directory: folder, table: table))
                }
            }
        }
    }

    private func works(_ source: RowSource) throws -> [Work] {
        let ids = (0..<220).map { source.id($0) }
        let filters = (0..<7).map { source.filter($0) }
        var works: [Work] = [
            .upsert(try source.batches(0..<100, of: 30)),
            .upsertRows(try source.batches(50..<200, of: 30, asRows: true)),
            .upsertRecords(try source.batches(190..<200, of: 5)),
            .reopen(times: 2, id: ids[3]), .find(filters, limit: 10), .count(filters),
        ]
        for access in Work.Access.allCases {
            works += [
                .scan(access), .get(ids: ids, access: access, transaction: .each),
                .get(ids: ids, access: access, transaction: .one),
            ]
        }
        return works + [
            .delete([Array(ids[10..<30]), Array(ids[20..<40])]), .deleteMatching([filters[2]]), .scan(.view),
        ]
    }

    private func withSession(
        _ name: String, _ table: BenchmarkTable, _ body: (any BenchmarkSession) throws -> Void
    ) throws {
        try withFolder { folder in
            let opening = BenchmarkOpening(directory: folder, table: table)
            let session = try #require(GRDBSubject.named(name)).open(opening)
            try body(session)
            try session.close()
        }
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("grdb-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }
}
