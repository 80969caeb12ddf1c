internal import TidelineBenchmark
internal import TidelineStore
internal import Synchronization

/// Until the suite has its own.
final class PlainSession<S: LocalStore>: BenchmarkSession {
    private let open: @Sendable () throws -> S
    private let store: Mutex<S>
    private let isPersistent: Bool

    init(_ open: @escaping @Sendable (String) throws -> S, _ opening: BenchmarkOpening) throws {
        let make: @Sendable () throws -> S = {
            let store = try open(opening.directory)
            try store.define([opening.table.schema])
            return store
        }
        self.open = make
        let store = try make()
        isPersistent = store.capabilities.isPersistent
        self.store = Mutex(store)
    }

    func close() throws { try store.withLock { try $0.close() } }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        if case .reopen = work {
            if !isPersistent { return Answer() }
            try close()
            let new = try open()
            store.withLock { $0 = new }
            return Answer(count: 1)
        }
        let store = store.withLock { $0 }
        var answer = Answer()
        switch work {
        case .upsert(let batches):
            for batch in batches {
                try store.write { try $0.upsert(batch.packed, into: "items") }
                answer.count += batch.packed.count
            }
        case .upsertRows(let batches):
            for batch in batches {
                try store.write { try $0.upsert(batch.rows, into: "items") }
                answer.count += batch.packed.count
            }
        case .get(let ids, _, _):
            try store.read { reader in
                for id in ids {
                    let sum = try reader.withRow(in: "items", id: id) { number($0) }
                    if let sum { answer += Answer(count: 1, checksum: sum) }
                }
            }
        case .scan:
            try store.read { reader in
                _ = try reader.scan(Query("items").order(by: "id")) { view in
                    answer += Answer(count: 1, checksum: number(view))
                    return .next
                }
            }
        case .delete(let lists):
            for ids in lists { answer.count += try store.write { try $0.delete(ids: ids, from: "items") } }
        default: throw WorkNotApplicable("later")
        }
        return answer
    }
}

private func number(_ view: borrowing RowView) -> UInt64 {
    var number = RowChecksum.start
    view.withIDBytes { RowChecksum.mix(&number, RowChecksum.value(of: $0)) }
    for index in view.shape.columns.indices {
        switch view.tag(at: index) {
        case .null: RowChecksum.mix(&number, RowChecksum.null)
        case .int: RowChecksum.mix(&number, UInt64(bitPattern: view.int(at: index) ?? 0))
        default: view.withBytes(at: index) { RowChecksum.mix(&number, RowChecksum.value(of: $0)) }
        }
    }
    return number
}
