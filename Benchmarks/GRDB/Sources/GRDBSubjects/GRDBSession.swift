internal import GRDB
internal import Synchronization
internal import TidelineBenchmark
internal import TidelineStore

/// A session of a GRDB database, used in one of the styles.
final class GRDBSession<Style: GRDBStyle>: BenchmarkSession {
    private let opening: @Sendable () throws -> DatabasePool
    private let opened: Mutex<Opened>
    /// The items of batches to write, which an app already has, so creating them is not measured. The batch is retained
    /// to keep its identity unique.
    private let prepared = Mutex<[ObjectIdentifier: (batch: RowBatch, items: [Style.Item])]>([:])

    /// An open database and its observations.
    private struct Opened: Sendable {
        let pool: DatabasePool
        let live: LiveObservations<Style>

        init(_ pool: DatabasePool) {
            self.pool = pool
            live = LiveObservations(pool)
        }
    }

    init(_ opening: BenchmarkOpening, durability: StoreCapabilities.Durability) throws {
        let instant = Style.instant
        let open: @Sendable () throws -> DatabasePool = {
            try GRDBDatabase.open(opening, instant: instant, durability: durability)
        }
        self.opening = open
        opened = Mutex(Opened(try open()))
    }

    private var pool: DatabasePool { opened.withLock { $0.pool } }

    func close() throws {
        let opened = opened.withLock { $0 }
        opened.live.stop()
        try opened.pool.close()
    }

    func prepare(_ work: Work) throws {
        guard case .upsert(let batches) = work.plain else { return }
        for batch in batches {
            let items = Self.items(batch)
            prepared.withLock { $0[ObjectIdentifier(batch)] = (batch, items) }
        }
    }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        switch work.plain {
        case .reopen(let times, let id): try reopen(times, id.text, latencies)
        case .upsert(let batches): try upsert(batches, latencies)
        case .get(let ids, let access, .each): try getEach(ids, access, latencies)
        case .get(let ids, let access, .one): try getInOne(ids, access, latencies)
        case .scan(let access): try latencies.time { try pool.read { try Style.scan(access, $0) } }
        case .find(let filters, let limit):
            try latencies.each(filters) { filter in try pool.read { try Style.find(filter, limit: limit, $0) } }
        case .count(let filters):
            try latencies.each(filters) { filter in Answer(count: try pool.read { try Style.count(filter, $0) }) }
        case .delete(let lists):
            try latencies.each(lists) { ids in
                Answer(count: try pool.write { try Style.delete(ids.map(\.text), $0) })
            }
        case .deleteMatching(let filters):
            try latencies.each(filters) { filter in
                Answer(count: try pool.write { try Style.delete(matching: filter, $0) })
            }
        case .sync(.live(let work)): try opened.withLock { $0.live }.perform(work, noting: latencies)
        default: throw WorkNotApplicable("not implemented for GRDB")
        }
    }

    private func reopen(_ times: Int, _ id: String, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for _ in 0..<times {
            try close()
            let number = try latencies.time {
                let new = try opening()
                opened.withLock { $0 = Opened(new) }
                return try new.read { try Style.get(id, .view, $0) }
            }
            if let number { answer += Answer(count: 1, checksum: number) }
        }
        return answer
    }

    private func upsert(_ batches: [RowBatch], _ latencies: LatencySink) throws -> Answer {
        try latencies.each(batches) { batch in
            let items =
                prepared.withLock { $0.removeValue(forKey: ObjectIdentifier(batch)) }?.items ?? Self.items(batch)
            try pool.write { try Style.upsert(items, $0) }
            return Answer(count: items.count)
        }
    }

    private func getEach(_ ids: [RowID], _ access: Work.Access, _ latencies: LatencySink) throws -> Answer {
        try latencies.each(ids) { id in
            guard let number = try pool.read({ try Style.get(id.text, access, $0) }) else { return Answer() }
            return Answer(count: 1, checksum: number)
        }
    }

    private func getInOne(_ ids: [RowID], _ access: Work.Access, _ latencies: LatencySink) throws -> Answer {
        try pool.read { db in
            var answer = Answer()
            for (position, id) in ids.enumerated() {
                let get = { try Style.get(id.text, access, db) }
                let number = try position % LatencySink.sampling == 0 ? latencies.time(get) : get()
                if let number { answer += Answer(count: 1, checksum: number) }
            }
            return answer
        }
    }

    private static func items(_ batch: RowBatch) -> [Style.Item] {
        var items: [Style.Item] = []
        items.reserveCapacity(batch.packed.count)
        batch.packed.forEachRow { items.append(Style.item($0)) }
        return items
    }
}

extension Work {
    /// The work with `Row` values and Tideline's records replaced by packed rows, which GRDB converts equally.
    fileprivate var plain: Work {
        switch self {
        case .upsertRows(let batches), .upsertRecords(let batches): .upsert(batches)
        default: self
        }
    }
}
