import Foundation
import Testing
import TidelineConformance
import TidelineLive
import TidelineStore
import TidelineSupport
import TidelineTestStores

/// Random writes under live queries. After each write, each result that is read equals that of a new query.
struct LiveOracle {
    /// One change within a transaction.
    enum Change: CustomStringConvertible {
        case upsert([Row])
        case delete([RowID])
        case deleteMatching(TableQuery)

        var description: String {
            switch self {
            case .upsert(let rows): "upsert \(rows)"
            case .delete(let ids): "delete \(ids)"
            case .deleteMatching(let query): "delete \(query)"
            }
        }
    }

    enum Step: CustomStringConvertible {
        case write([Change], commits: Bool)
        /// The consumer of a live query reads what is there.
        case read(Int)
        /// A column is added to the table.
        case redefine

        var description: String {
            switch self {
            case .write(let changes, let commits): "\(commits ? "commit" : "roll back") \(changes)"
            case .read(let query): "read live query \(query)"
            case .redefine: "add a column"
            }
        }
    }

    let seed: UInt64
    let schema: TableSchema
    /// All rows that are written; the first 30 are there at the beginning.
    let rows: [Row]
    var queries: [TableQuery]
    var steps: [Step]
    /// The number of rows that a transaction may change before the queries are read again.
    let maximumRecordedRows: Int

    /// Makes a schedule.
    init(seed: UInt64, capabilities: StoreCapabilities, writes: Int, queries count: Int) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        var source = RandomRows(
            seed: seed,
            values: RandomValues(
                includesNaN: capabilities.storesNaN && seed % 3 == 0, includesInfinity: capabilities.storesInfinity))
        let schema = seed % 4 == 0 ? RandomRows.everyType() : source.indexedSchema()
        let rows = source.rows(60, of: schema)
        var generator = RandomQuery(seed: seed, schema: schema, rows: rows, values: source.values)
        queries = (0..<count).map { $0 % 3 == 0 ? generator.next() : generator.nextIndexed() }
        maximumRecordedRows = seed % 5 == 0 ? 8 : 1_000
        steps = []
        // Some transactions are long, so that they change rows several times.
        let longest = seed % 4 == 1 ? 40 : 3
        for _ in 0..<writes {
            let changes = (0..<Int.random(in: 1...longest, using: &random)).map { _ -> Change in
                let some = rows.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<7: return .upsert(Array(some))
                case 7..<14: return .upsert(some.map { source.change(of: $0, in: schema) })
                case 14..<18: return .delete(some.compactMap(\.id))
                case 18: return .upsert(Array(rows.shuffled(using: &random).prefix(20)))
                default: return .deleteMatching(generator.next().limit(4))
                }
            }
            steps.append(.write(changes, commits: Int.random(in: 0..<10, using: &random) > 0))
            // Some consumers read after each commit, others rarely.
            for query in 0..<count where Int.random(in: 0...(query % 8) * 2, using: &random) == 0 {
                steps.append(.read(query))
            }
            if Int.random(in: 0..<200, using: &random) == 0 { steps.append(.redefine) }
        }
        steps += (0..<count).map { .read($0) }
        (self.schema, self.rows) = (schema, rows)
    }

    /// The number of rows that the schedule writes.
    var writeCount: Int {
        steps.reduce(0) { count, step in
            guard case .write(let changes, _) = step else { return count }
            return changes.reduce(count) { count, change in
                switch change {
                case .upsert(let rows): count + rows.count
                case .delete(let ids): count + ids.count
                case .deleteMatching: count + 1
                }
            }
        }
    }
}

// MARK: - Running

extension LiveOracle {
    private struct RolledBack: Error {}

    /// Runs the schedule over a new store and returns the first difference, or `nil` if there is none.
    func failure(over kind: StoreKind) throws -> String? {
        let store = ObservedStore(try kind.makeStore(), maximumRecordedRows: maximumRecordedRows)
        defer { try? store.close() }
        try store.define([schema])
        try store.write { try $0.upsert(Array(rows.prefix(30)), into: schema.name) }
        var consumers: [Consumer?] = try queries.map { try Consumer($0, store) }
        var columns = 0
        for step in steps {
            switch step {
            case .write(let changes, let commits): try write(changes, commits: commits, to: store)
            case .read(let query):
                if let difference = try consumers[query]?.difference(from: store) {
                    return "live query \(query): \(difference)"
                }
            case .redefine:
                columns += 1
                var wider = schema
                wider.columns += (1...columns).map { .int("added\($0)") }
                try store.define([wider])
            }
        }
        consumers = []
        return store.liveQueryCount == 0 ? nil : "\(store.liveQueryCount) live queries are left"
    }

    private func write(_ changes: [Change], commits: Bool, to store: ObservedStore<TestStore>) throws {
        do {
            try store.write { writer in
                for change in changes {
                    switch change {
                    case .upsert(let rows): try writer.upsert(rows.map { complete($0) }, into: schema.name)
                    case .delete(let ids): try writer.delete(ids: ids, from: schema.name)
                    case .deleteMatching(let query): try writer.delete(matching: query)
                    }
                }
                if !commits { throw RolledBack() }
            }
        } catch is RolledBack {}
    }

    /// A change of a row that is not stored must have all required columns.
    private func complete(_ row: Row) -> Row { rows.first { $0.id == row.id }.map { $0.merging(row) } ?? row }

    /// A live query's consumer, with the rows that it obtained by applying the changes.
    private struct Consumer {
        let query: TableQuery
        private var rows: LiveQuery<Row>.Iterator
        private var count: LiveValue<Int>.Iterator
        private var known: [Row] = []
        private var knownCount = -1
        private var knownTotal: Int?
        private var commit = 0

        /// Returns `nil` for a query that the store rejects.
        init?(_ query: TableQuery, _ store: ObservedStore<TestStore>) throws {
            self.query = query
            rows = store.observe(query).makeAsyncIterator()
            count = store.observeCount(query).makeAsyncIterator()
            do {
                try rows.start(in: store)
                try count.start(in: store)
            } catch let error as StoreError where error.code == .unsupportedQuery {
                return nil
            }
        }

        mutating func difference(from store: ObservedStore<TestStore>) throws -> String? {
            if let update = try rows.takeUpdate() {
                update.apply(to: &known)
                guard known == Array(update.rows) else {
                    return "\(query)\nthe changes \(update.changes) make\n\(known)\nfor the rows\n\(Array(update.rows))"
                }
                guard update.commit >= commit else { return "commit \(update.commit) after \(commit)" }
                (commit, knownTotal) = (update.commit, update.totalCount)
            }
            if let newCount = try count.takeValue() { knownCount = newCount }
            let (fresh, freshCount) = try store.read { (try $0.rows(matching: query), try $0.count(query)) }
            guard fresh.rows == known else { return "\(query)\nlive: \(known)\nfresh: \(fresh.rows)" }
            guard fresh.totalCount == knownTotal else {
                return "\(query)\nlive total: \(knownTotal as Any), fresh: \(fresh.totalCount as Any)"
            }
            return freshCount == knownCount ? nil : "\(query)\nlive count: \(knownCount), fresh: \(freshCount)"
        }
    }
}

// MARK: - Shrinking

extension LiveOracle {
    /// Returns a description of the difference with the fewest steps found, or `nil` if there is no difference.
    func shrunkFailure(over kind: StoreKind) throws -> String? {
        guard var message = try failure(over: kind) else { return nil }
        var small = self
        var size = steps.count / 2
        while size > 0 {
            var start = 0
            while start < small.steps.count {
                var shorter = small
                shorter.steps.removeSubrange(start..<min(start + size, shorter.steps.count))
                if let found = (try? shorter.failure(over: kind)) ?? nil {
                    (small, message) = (shorter, found)
                } else {
                    start += size
                }
            }
            size /= 2
        }
        let steps = small.steps.map { "    \($0)" }.joined(separator: "\n")
        return "seed \(seed), \(small.schema)\nrows \(small.rows)\n\(steps)\n\(message)"
    }
}

/// Compares the results of live queries with those of the same queries asked afresh.
///
/// `TIDELINE_LIVE_SEED` sets the first seed, `TIDELINE_LIVE_WRITES` the number of written rows for each store.
@Suite("Live queries compared with fresh queries")
struct OracleTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["TIDELINE_LIVE_\(name)"].flatMap { UInt64($0) }
    }

    @Test("After random writes, each result equals that of a new query", arguments: StoreKind.perEngine)
    func resultsAreThoseOfNewQueries(_ kind: StoreKind) throws {
        let capabilities = try kind.withStore { $0.capabilities }
        let wanted = Int(Self.number("WRITES") ?? 4_000)
        var (seed, written) = (Self.number("SEED") ?? 1, 0)
        while written < wanted {
            let oracle = LiveOracle(seed: seed, capabilities: capabilities, writes: 100, queries: 24)
            if let failure = try oracle.shrunkFailure(over: kind) {
                Issue.record("\(failure)")
                return
            }
            written += oracle.writeCount
            seed += 1
        }
    }
}
