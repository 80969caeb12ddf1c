internal import CBaselines
internal import Synchronization
internal import TidelineBenchmark
internal import TidelineStore

/// The work of the benchmark on an engine.
final class BaselineSession: BenchmarkSession {
    private let engine: BaselineEngine
    private let folder: String
    private let durability: StoreCapabilities.Durability
    private let table: BaselineTable
    private let opened: Mutex<BaselineDatabase?>
    private let parser: PageParser

    init(_ engine: BaselineEngine, _ opening: BenchmarkOpening, _ durability: StoreCapabilities.Durability) throws {
        self.engine = engine
        self.durability = durability
        folder = opening.directory
        table = try BaselineTable(opening.table)
        parser = try PageParser(table)
        opened = Mutex(try BaselineDatabase(engine, in: folder, table: table, durability: durability))
    }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        let database = try database()
        return switch work {
        case .reopen(let times, let id): try reopen(times: times, reading: id, latencies)
        case .upsert(let batches), .upsertRows(let batches): try database.upsert(batches, latencies)
        case .get(let ids, _, let transaction): try database.get(ids, transaction, latencies)
        case .scan: try database.scan(latencies)
        case .find(let filters, let limit): try database.find(filters, limit: limit, latencies)
        case .count(let filters): try database.count(filters, latencies)
        case .delete(let lists): try database.delete(lists, latencies)
        case .deleteMatching(let filters): try database.delete(matching: filters, latencies)
        case .mix(let steps): try database.mix(steps, latencies)
        case .pull(let pages): try database.pull(pages, parser, latencies)
        case .sync: throw WorkNotApplicable("a bare engine does not sync")
        case .parse: throw WorkNotApplicable("an engine does not read JSON")
        }
    }

    func close() throws {
        let database = opened.withLock { $0.take() }
        try database?.close()
    }

    /// How far the pulls came, in ticks.
    func token() throws -> Int64 { try database().token() }

    private func database() throws(BaselineError) -> BaselineDatabase {
        guard let database = opened.withLock({ $0 }) else { throw BaselineError("the database is closed") }
        return database
    }

    private func reopen(times: Int, reading id: RowID, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for _ in 0..<times {
            try close()
            answer += try latencies.time {
                let new = try BaselineDatabase(engine, in: folder, table: table, durability: durability)
                opened.withLock { $0 = new }
                return try new.get(id)
            }
        }
        return answer
    }
}
