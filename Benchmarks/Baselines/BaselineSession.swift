#if Commands
internal import CBaselines
internal import Synchronization
internal import TidelineBenchmark
internal import TidelineStore

/// A session of a bare engine.
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
        case .upsert(let batches), .upsertRows(let batches), .upsertRecords(let batches):
            try database.upsert(batches, latencies)
        case .get(let ids, _, let transaction): try database.get(ids, transaction, latencies)
        case .scan: try database.scan(latencies)
        case .find(let filters, let limit): try database.find(filters, limit: limit, latencies)
        case .count(let filters): try database.count(filters, latencies)
        case .delete(let lists): try database.delete(lists, latencies)
        case .deleteMatching(let filters): try database.delete(matching: filters, latencies)
        case .mix(let steps): try database.mix(steps, latencies)
        case .pull(let pages): try database.pull(pages, parser, latencies)
        case .insertLocally(let batches): try database.insertLocally(batches, latencies)
        case .sync: throw WorkNotApplicable("a bare engine does not sync")
        case .parse: throw WorkNotApplicable("a bare engine parses no JSON")
        }
    }

    func close() throws {
        let database = opened.withLock { $0.take() }
        try database?.close()
    }

    /// The token of the last pull, in ticks.
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

/// The table of the benchmark for C code.
///
/// `@unchecked Sendable`: the memory behind the pointers never changes.
final class BaselineTable: @unchecked Sendable {
    /// The table for C functions, valid as long as this object.
    let pointer: UnsafeMutablePointer<baseline_table>
    private let names: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>
    private let types: UnsafeMutableBufferPointer<baseline_type>

    init(_ table: BenchmarkTable) throws {
        let shape = table.schema.makeShape()
        let columns = shape.columns
        let position = { (name: String) throws(BaselineError) -> UInt32 in
            guard let index = shape.index(of: name) else { throw BaselineError("the table has no column \(name)") }
            return UInt32(index)
        }
        let (text, list, rank) = (try position("text"), try position("list"), try position("rank"))
        let updatedAt = try position("updatedAt")
        let known = try columns.map { try Self.type(of: $0) }
        names = .allocate(capacity: columns.count)
        types = .allocate(capacity: columns.count)
        _ = names.initialize(from: columns.map { Self.copy($0.name) })
        _ = types.initialize(from: known)
        pointer = .allocate(capacity: 1)
        pointer.initialize(
            to: baseline_table(
                names: names.baseAddress, types: types.baseAddress, count: UInt32(columns.count), text: text,
                list: list, rank: rank, updated_at: updatedAt, is_indexed: table.isIndexed))
    }

    deinit {
        for name in names { name?.deallocate() }
        names.deallocate()
        types.deallocate()
        pointer.deallocate()
    }

    private static func type(of column: ColumnSchema) throws(BaselineError) -> baseline_type {
        switch column.type {
        case .bool: BASELINE_BOOL
        case .int: BASELINE_INT
        case .double: BASELINE_DOUBLE
        case .string: BASELINE_STRING
        case .timestamp: BASELINE_TIMESTAMP
        case .bytes, .json: throw BaselineError("the baselines do not support columns of type \(column.type.rawValue)")
        }
    }

    private static func copy(_ name: String) -> UnsafePointer<CChar> {
        let bytes = name.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: byte) }
        return UnsafePointer(copy)
    }
}
#endif
