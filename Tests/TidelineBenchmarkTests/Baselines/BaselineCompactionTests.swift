#if Commands
import Foundation
import Testing
import TidelineBaselines
import TidelineBenchmark
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@Suite("Compaction of closed databases")
struct BaselineCompactionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private let source = RowSource(table: BenchmarkTable(), valueSize: 500, seed: 2, lists: 1)

    @Test("A baseline shrinks and keeps its rows", arguments: Baselines.engines)
    func baselines(engine: String) throws {
        let subject = try #require(Baselines.subject(engine: engine, durability: .normal))
        try check(subject) { try subject.compact?(folder.path) }
    }

    @Test("A store shrinks and keeps its rows", arguments: StoreKind.all)
    func stores(kind: StoreKind) throws {
        guard let engine = kind.engine, Baselines.engines.contains(engine) else { return }
        let subject = try BenchmarkStore { try kind.open($0) }.makeSubject()
        try check(subject) { try Baselines.compact(engine: engine, path: kind.path(in: folder.path)) }
    }

    /// Compacts a database after most of its rows are deleted.
    private func check(_ subject: BenchmarkSubject, _ compact: () throws -> Void) throws {
        let opening = BenchmarkOpening(directory: folder.path, table: source.table)
        let first = try subject.open(opening)
        _ = try first.perform(.upsert(source.batches(0..<1000, of: 500)))
        _ = try first.perform(.delete([(50..<1000).map { source.id($0) }]))
        let rows = try first.perform(.scan(.view))
        try first.close()
        let before = size(of: folder.path)
        try compact()
        #expect(size(of: folder.path) < before)
        let second = try subject.open(opening)
        #expect(try second.perform(.scan(.view)) == rows)
        #expect(rows.count == 50)
        try second.close()
    }

    @Test("Compacting an invalid database throws the engine's error")
    func noDatabase() throws {
        try Data("no database".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/file"))
        #expect(throws: BaselineError.self) { try Baselines.compact(engine: "sqlite", path: "\(folder.path)/file") }
        #expect(throws: BaselineError.self) { try Baselines.compact(engine: "lmdb", path: "\(folder.path)/none") }
        #expect(throws: BaselineError.self) { try Baselines.compact(engine: "leveldb", path: "\(folder.path)/file") }
        #expect(throws: BaselineError.self) { try Baselines.compact(engine: "paper", path: folder.path) }
    }

    @Test("Opening a database in an invalid directory throws the engine's error", arguments: Baselines.engines)
    func opening(engine: String) throws {
        let subject = try #require(Baselines.subject(engine: engine, durability: .normal))
        #expect(throws: BaselineError.self) {
            try subject.open(BenchmarkOpening(directory: "/dev/null/none", table: source.table))
        }
    }

    private func size(of folder: String) -> Int {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return files.reduce(0) { total, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return total }
            return total + (attributes?[.size] as? Int ?? 0)
        }
    }
}
#endif
