internal import GRDB
internal import Synchronization
internal import TidelineBenchmark
internal import TidelineStore

/// A database of GRDB's at work in one of the ways.
final class GRDBSession<Way: GRDBWay>: BenchmarkSession {
    private let opening: @Sendable () throws -> DatabasePool
    private let opened: Mutex<DatabasePool>
    /// The items of batches that will be written: an app has them, so that making them is not timed. Each batch is kept with
    /// its items, so that none other gets its identity.
    private let prepared = Mutex<[ObjectIdentifier: (batch: RowBatch, items: [Way.Item])]>([:])

    init(_ opening: BenchmarkOpening, durability: StoreCapabilities.Durability) throws {
        let instant = Way.instant
        let open: @Sendable () throws -> DatabasePool = {
            try GRDBDatabase.open(opening, instant: instant, durability: durability)
        }
        self.opening = open
        opened = Mutex(try open())
    }

    private var pool: DatabasePool { opened.withLock { $0 } }

    func close() throws { try pool.close() }

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
        case .scan(let access): try latencies.time { try pool.read { try Way.scan(access, $0) } }
        case .find(let filters, let limit):
            try each(filters, latencies) { filter in try pool.read { try Way.find(filter, limit: limit, $0) } }
        case .count(let filters):
            try each(filters, latencies) { filter in Answer(count: try pool.read { try Way.count(filter, $0) }) }
        case .delete(let lists):
            try each(lists, latencies) { ids in
                Answer(count: try pool.write { try Way.delete(ids.map(\.text), $0) })
            }
        case .deleteMatching(let filters):
            try each(filters, latencies) { filter in
                Answer(count: try pool.write { try Way.delete(matching: filter, $0) })
            }
        default: throw WorkNotApplicable("not written for GRDB")
        }
    }

    private func reopen(_ times: Int, _ id: String, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for _ in 0..<times {
            try close()
            let number = try latencies.time {
                let new = try opening()
                opened.withLock { $0 = new }
                return try new.read { try Way.get(id, .view, $0) }
            }
            if let number { answer += Answer(count: 1, checksum: number) }
        }
        return answer
    }

    private func upsert(_ batches: [RowBatch], _ latencies: LatencySink) throws -> Answer {
        try each(batches, latencies) { batch in
            let items =
                prepared.withLock { $0.removeValue(forKey: ObjectIdentifier(batch)) }?.items ?? Self.items(batch)
            try pool.write { try Way.upsert(items, $0) }
            return Answer(count: items.count)
        }
    }

    private func getEach(_ ids: [RowID], _ access: Work.Access, _ latencies: LatencySink) throws -> Answer {
        try each(ids, latencies) { id in
            guard let number = try pool.read({ try Way.get(id.text, access, $0) }) else { return Answer() }
            return Answer(count: 1, checksum: number)
        }
    }

    private func getInOne(_ ids: [RowID], _ access: Work.Access, _ latencies: LatencySink) throws -> Answer {
        try pool.read { db in
            var answer = Answer()
            for (place, id) in ids.enumerated() {
                let get = { try Way.get(id.text, access, db) }
                let number = try place % LatencySink.sampling == 0 ? latencies.time(get) : get()
                if let number { answer += Answer(count: 1, checksum: number) }
            }
            return answer
        }
    }

    /// Does one operation after the other.
    private func each<T>(_ parts: [T], _ latencies: LatencySink, _ body: (T) throws -> Answer) throws -> Answer {
        var answer = Answer()
        for part in parts { answer += try latencies.time { try body(part) } }
        return answer
    }

    private static func items(_ batch: RowBatch) -> [Way.Item] {
        var items: [Way.Item] = []
        items.reserveCapacity(batch.packed.count)
        batch.packed.forEachRow { items.append(Way.item($0)) }
        return items
    }
}

extension Work {
    /// The same work, where a way has nothing better for `Row` values than for packed rows.
    fileprivate var plain: Work {
        if case .upsertRows(let batches) = self { .upsert(batches) } else { self }
    }
}

extension LatencySink {
    /// Notes the time that `body` takes.
    fileprivate func time<T>(_ body: () throws -> T) rethrows -> T {
        let start = Self.now
        let result = try body()
        note(since: start)
        return result
    }
}
