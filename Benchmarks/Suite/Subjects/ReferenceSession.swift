#if Commands
internal import Synchronization
internal import TidelineStore

/// The reference for answers: performs all work in the simplest way, with a dictionary and sorting.
public final class ReferenceSession: BenchmarkSession {
    private let table: Mutex<ReferenceTable>

    /// Creates an empty table for the rows of a source.
    public init(source: RowSource) { table = Mutex(ReferenceTable(source: source)) }

    public func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        try table.withLock { try $0.perform(work) }
    }

    public func close() {}
}

/// The rows of the reference.
private struct ReferenceTable {
    /// The part of a row that answers need. Other values are generated again from the source, to save memory.
    struct Entry {
        var number: UInt64
        var list: String
        var rank: Int64
        /// The index of the row in the source, if it has one.
        var index: Int?
    }

    let source: RowSource
    private var entries: [RowID: Entry] = [:]
    private var order = ReferenceOrder()
    /// The rows of each list by rank, computed on first use after a change.
    private var lists: [String: [RowID]]?

    init(source: RowSource) { self.source = source }

    mutating func perform(_ work: Work) throws -> Answer {
        switch work {
        case .reopen(let times, let id):
            (0..<times).reduce(into: Answer()) { answer, _ in answer += get(id) }
        case .upsert(let batches), .upsertRows(let batches), .upsertRecords(let batches): upsert(batches)
        case .get(let ids, _, _): ids.reduce(into: Answer()) { $0 += get($1) }
        case .scan: sum(order.sorted(entries.keys))
        case .find(let filters, let limit):
            filters.reduce(into: Answer()) { $0 += sum(rows(of: $1).prefix(limit)) }
        case .count(let filters): Answer(count: filters.reduce(0) { $0 + rows(of: $1).count })
        case .delete(let lists): lists.reduce(into: Answer()) { $0 += delete($1) }
        case .deleteMatching(let filters): filters.reduce(into: Answer()) { $0 += delete(rows(of: $1)) }
        case .mix(let steps): try steps.reduce(into: Answer()) { $0 += try perform($1) }
        case .insertLocally(let batches): upsert(batches)
        // The workload restores the rows that it changes. Each change concerns the query that is read.
        case .sync(.live(.commit(let rows))): Answer(count: rows.count)
        case .sync(.live): Answer()
        case .pull, .sync, .parse: throw WorkNotApplicable("the reference neither syncs nor parses JSON")
        }
    }

    private mutating func perform(_ step: MixedStep) throws -> Answer {
        switch step {
        case .read(let id): return get(id)
        case .update(let id, let text):
            try change(id, text)
            return Answer(count: 1)
        case .insert(let batch): return upsert([batch])
        case .scan(let first, let count):
            let sorted = order.sorted(entries.keys)
            return sum(sorted[ReferenceOrder.position(of: first, in: sorted)...].prefix(count))
        case .readModifyWrite(let id, let text):
            let answer = get(id)
            try change(id, text)
            return answer
        }
    }

    // MARK: Reading

    private func get(_ id: RowID) -> Answer {
        guard let entry = entries[id] else { return Answer() }
        return Answer(count: 1, checksum: entry.number)
    }

    private func sum(_ ids: some Collection<RowID>) -> Answer {
        ids.reduce(into: Answer()) { answer, id in
            answer.count += 1
            answer.checksum &+= (entries[id]?.number ?? 0) &* UInt64(answer.count)
        }
    }

    private mutating func rows(of filter: RowFilter) -> [RowID] {
        let lists = lists ?? Dictionary(grouping: entries.keys) { entries[$0]?.list ?? "" }
        self.lists = lists
        return (lists[filter.list] ?? []).sorted {
            (entries[$0]?.rank ?? 0, $0.text) < (entries[$1]?.rank ?? 0, $1.text)
        }
    }

    // MARK: Writing

    private mutating func upsert(_ batches: [RowBatch]) -> Answer {
        var answer = Answer()
        for batch in batches {
            for index in 0..<batch.packed.count {
                let (id, entry) = entry(index, of: batch)
                if entries.updateValue(entry, forKey: id) == nil { order.add(id) }
            }
            answer.count += batch.packed.count
        }
        lists = nil
        return answer
    }

    private func entry(_ index: Int, of batch: RowBatch) -> (RowID, Entry) {
        batch.packed.withRow(at: index) { row in
            let values = (0..<row.shape.count).map { row.value(at: $0) ?? .null }
            return (
                row.id,
                Entry(
                    number: RowChecksum.number(id: row.id, values: values), list: row["list"]?.string ?? "",
                    rank: row["rank"]?.int ?? 0, index: batch.indexes.isEmpty ? nil : batch.indexes[index])
            )
        }
    }

    private mutating func change(_ id: RowID, _ text: String) throws {
        guard let index = entries[id]?.index else {
            throw StoreError(.invalidValue, "the row to change does not exist", id: id.text)
        }
        entries[id]?.number = RowChecksum.number(id: id, values: source.values(index, text: text))
    }

    private mutating func delete(_ ids: [RowID]) -> Answer {
        order.reset()
        lists = nil
        return Answer(count: ids.count { entries.removeValue(forKey: $0) != nil })
    }
}

/// The sorted identifiers, kept until rows are removed, because sorting a million is slow.
private struct ReferenceOrder {
    private var ids: [RowID]?
    /// Identifiers that are not yet in ``ids``.
    private var added: [RowID] = []

    /// The maximum number of identifiers to insert one by one instead of sorting all.
    private static let maxInserts = 100

    mutating func add(_ id: RowID) {
        if ids != nil { added.append(id) }
    }

    mutating func reset() {
        ids = nil
        added = []
    }

    mutating func sorted(_ all: some Sequence<RowID>) -> [RowID] {
        var sorted = ids.take() ?? []
        if sorted.isEmpty || added.count > Self.maxInserts {
            sorted = all.sorted { $0.text < $1.text }
        } else {
            for id in added { sorted.insert(id, at: Self.position(of: id, in: sorted)) }
        }
        added = []
        ids = sorted
        return sorted
    }

    /// The position of the first identifier that is not less than `id`.
    static func position(of id: RowID, in ids: [RowID]) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle].text < id.text { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
#endif
