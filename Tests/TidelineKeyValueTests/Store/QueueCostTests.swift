import Testing
import TidelineStore

@testable import TidelineKeyValue

/// Tests that the cost of the operation queue does not depend on its length.
@Suite struct QueueCostTests {
    private static let tables = SystemTables()
    private static let name = tables.operations

    private static func operation(_ number: Int) -> Row {
        [
            "id": .int(Int64(number)), "table": "TodoItem", "itemId": .string("item-\(number)"),
            "itemKey": .string("item-\(number)"), "tableKind": 1, "attempts": 0, "restores": false, "revision": 1,
        ]
    }

    private static func queue(_ count: Int) throws -> (engine: WrappedEngine, store: KeyValueStore<WrappedEngine>) {
        let engine = WrappedEngine()
        let store = try KeyValueStore(engine: engine)
        try store.define(tables.schemas)
        try store.write { writer in
            for start in stride(from: 1, to: count, by: 10_000) {
                let rows = (start...min(start + 9_999, count)).map(operation)
                try writer.upsert(rows, into: name)
            }
        }
        #expect(try store.read { try $0.count(TableQuery(name)) } == count)
        return (engine, store)
    }

    /// An operation that the core performs on the queue.
    private enum Step: CaseIterable {
        case next, lastNumber, lookUpByItem, lookUpByNumber, count, enqueue, change, remove

        /// - Parameter count: The number of operations, numbered from 1.
        func run(on store: KeyValueStore<WrappedEngine>, _ count: Int) throws {
            let id = RowPredicate.column("id")
            let middle = Int64(count / 2)
            switch self {
            case .next:
                let query = TableQuery(name).filter(id > .value(middle) && id <= .value(Int64(count))).order(by: "id")
                try expect(query.limit(1), finds: middle + 1, in: store)
            case .lastNumber:
                try expect(TableQuery(name).order(by: "id", descending: true).limit(1), finds: Int64(count), in: store)
            case .lookUpByItem:
                let item = RowPredicate.column("itemKey") == .value("item-\(middle)")
                try expect(
                    TableQuery(name).filter(.column("table") == "TodoItem" && item).order(by: "id"), finds: middle,
                    in: store
                )
            case .lookUpByNumber:
                let row = try store.read { try $0.row(in: name, id: .int(middle)) }
                #expect(row?["itemId"] == .string("item-\(middle)"))
            case .count:
                let counted = try store.read { try $0.count(TableQuery(name)) }
                #expect(counted == count)
            case .enqueue: try store.write { try $0.upsert(operation(count + 1), into: name) }
            case .change:
                var changed = operation(Int(middle))
                changed["attempts"] = 1
                changed["sent"] = .json("[]")
                try store.write { try $0.upsert(changed, into: name) }
            case .remove:
                let removed = try store.write { try $0.delete(ids: [.int(1)], from: name) }
                #expect(removed == 1)
            }
        }

        private func expect(_ query: TableQuery, finds id: Int64, in store: KeyValueStore<WrappedEngine>) throws {
            let found = try store.read { try $0.rows(matching: query).rows }
            #expect(found.map(\.id) == [.int(id)])
        }
    }

    @Test func everyStepTouchesAsManyEntriesInALongQueueAsInAShortOne() throws {
        let short = try Self.queue(100)
        let long = try Self.queue(100_000)
        for step in Step.allCases {
            let expected = try short.engine.countSteps { try step.run(on: short.store, 100) }
            let steps = try long.engine.countSteps { try step.run(on: long.store, 100_000) }
            #expect(steps == expected, "\(step)")
            #expect(steps <= 16, "\(step)")
        }
    }
}
