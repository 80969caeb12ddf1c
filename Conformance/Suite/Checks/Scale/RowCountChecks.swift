internal import Foundation
internal import Synchronization
internal import TidelineStore

extension Check {
    /// Every operation on few and on very many rows: a store with batches or limited caches may be right for few.
    static let scaleOperations: [Check] = [
        operation("SCA-021", "A scan finds all rows, in the order of ids and in the opposite order") { run in
            try run.store.read { reader in
                try run.expect(run.all, in: reader, finds: 0..<run.count)
                try run.expect(run.all.order(by: "id", descending: true), in: reader, finds: (0..<run.count).reversed())
            }
        },
        operation(
            "SCA-022", "An order applies to all rows, by an index and without one",
            why: "A store that sorts in parts must merge them; one that limits what it sorts must refuse the query."
        ) { run in
            let (last, all) = (run.count - 1, run.all)
            let byDigit = (0..<10).flatMap { stride(from: $0, to: run.count, by: 10) }
            try run.store.read { reader in
                let descending = all.order(by: "number", descending: true)
                try run.expect(descending, in: reader, finds: (0..<run.count).reversed())
                let window = (0..<max(run.count - 2, 0)).lazy.map { last - 1 - $0 }
                try run.expect(descending.skip(1).limit(max(run.count - 2, 0)), in: reader, finds: window)
                try run.expect(all.order(by: "digit").order(by: "number"), in: reader, finds: byDigit)
                let filtered = all.filter(.column("number") >= 0).order(by: "text", descending: true)
                let found = try reader.rows(matching: filtered).rows.compactMap { $0["number"]?.int.map(Int.init) }
                let expected = run.rows.sortedByText(descending: true)
                try run.context.expect(found == expected, "\(run.name): \(filtered.swiftSource) is in another order")
            }
        },
        operation(
            "SCA-023", "A deletion with an order, skip, and limit deletes all rows of its window",
            why: "A store that sorts the rows of a deletion in a buffer of limited size deletes only those in it."
        ) { run in
            let kept = run.count / 8
            let window = run.all.order(by: "number", descending: true).skip(kept).limit(run.count)
            let deleted = try run.store.delete(matching: window)
            try run.context.expect(deleted, is: run.count - kept, "\(run.name): rows deleted by \(window.swiftSource)")
            try run.lookAgain { try run.expect(run.all, in: $0, finds: (run.count - kept)..<run.count) }
        },
        operation("SCA-024", "A deletion by query deletes all matches, by an index and without one") { run in
            let queries = [(RowPredicate.column("digit") == 3, 3), (.column("number") % 10 == 7, 7)]
            for (predicate, digit) in queries {
                let deleted = try run.store.delete(matching: run.all.filter(predicate))
                let matches = (run.count + 9 - digit) / 10
                try run.context.expect(deleted, is: matches, "\(run.name): rows deleted of the digit \(digit)")
            }
            let left = (0..<run.count).lazy.filter { $0 % 10 != 3 && $0 % 10 != 7 }
            try run.lookAgain { reader in
                try run.expect(run.all, in: reader, finds: left)
                let odd = run.all.filter(.column("digit") >= 3).order(by: "number")
                try run.expect(odd, in: reader, finds: left.filter { $0 % 10 > 3 })
            }
        },
        operation("SCA-025", "A count covers all matches, by an index and without one, before and after changes") {
            run in
            func expectCounts(_ reader: any StoreReader, added: Int) throws {
                let counts: [(RowPredicate?, Int)] = [
                    (nil, run.count), (.column("digit") == 4, (run.count + 5) / 10),
                    (.column("number") % 2 == 0, (run.count + 1) / 2), (.column("id") > "s", 0),
                ]
                for (predicate, count) in counts {
                    var query = TableQuery("Many", predicate: predicate, includesTotalCount: true)
                    let expected = predicate == nil ? count + added : count
                    let about = "\(run.name): the count of \(query.swiftSource)"
                    try run.context.expect(reader.count(query), is: expected, about)
                    query.limit = 0
                    try run.context.expect(reader.rows(matching: query).totalCount, is: expected, "total: \(about)")
                }
            }
            try run.store.read { try expectCounts($0, added: 0) }
            try run.store.write { writer in
                try writer.upsert(["id": "a", "number": -1, "digit": -1], into: "Many")
                try expectCounts(writer, added: 1)
            }
            try run.lookAgain { try expectCounts($0, added: 1) }
        },
        operation(
            "SCA-026", "A scan within a write finds the rows that existed when it began, whatever its body changes",
            why: "A store that reads ahead in batches finds the changes of the body from the second batch on."
        ) { run in
            let queries = [
                run.all, run.all.filter(.column("digit") >= 0), run.all.order(by: "number"),
                run.all.filter(.column("number") >= 0),
            ]
            for query in queries {
                try run.store.rollBack { writer in
                    let finds = try run.numbers(writer, query)
                    var step = 0
                    try run.context.expect(finds.count, is: run.count, "\(run.name): the rows of \(query.swiftSource)")
                    try writer.scan(query) { view in
                        let number = view["number"]?.int.map(Int.init) ?? -1
                        guard step < finds.count, number == finds[step], view.idText == ManyRows.id(number) else {
                            throw CheckFailure(
                                """
                                \(run.name): \(query.swiftSource) in a write whose body changes rows: row \(step) is \
                                \(view.owned()), expected the number \(step < finds.count ? "\(finds[step])" : "none")
                                """)
                        }
                        if step % 499 == 0 { try run.change(from: step, of: finds, writer) }
                        step += 1
                        return .next
                    }
                    try run.context.expect(step, is: run.count, "\(run.name): the rows found by \(query.swiftSource)")
                }
            }
            try run.store.read { try run.expect(run.all, in: $0, finds: 0..<run.count) }
        },
        operation("SCA-027", "A read whose task is cancelled finds all rows, or throws cancelled") { run in
            let (store, middle) = (run.store.base, run.count / 2)
            let found = Mutex(0)
            let result = try inTask(run.context) { task in
                try store.scan(TableQuery("Many")) { _ in
                    let seen = found.withLock { found in
                        found += 1
                        return found
                    }
                    if seen == middle + 1 { task.cancel() }
                    return .next
                }
            }
            switch result {
            case .success:
                try run.context.expect(found.withLock { $0 }, is: run.count, "\(run.name): rows of a cancelled read")
            case .failure(let error): try expectCancelled(error)
            }
            try run.store.read { try run.expect(run.all, in: $0, finds: 0..<run.count) }
        },
        operation("SCA-028", "A new column and a new index cover all existing rows") { run in
            var wider = ManyRows.schema
            wider.columns.append(.string("more"))
            wider.indexes += [["number"], ["more", "digit"]]
            try run.store.define([wider])
            try run.lookAgain { reader in
                try run.expect(
                    run.all.order(by: "number", descending: true), in: reader, finds: (0..<run.count).reversed())
                let half = run.count / 2
                try run.expect(run.all.filter(.column("number") >= .value(half)), in: reader, finds: half..<run.count)
                let nulls = run.all.filter(.column("more").isNull && .column("digit") == 0).order(by: "id")
                try run.expect(nulls, in: reader, finds: stride(from: 0, to: run.count, by: 10))
            }
        },
        operation("SCA-029", "A merge into all rows changes the columns that it contains and no others") { run in
            try run.store.put(run.merged(), into: "Many")
            try run.lookAgain { reader in
                try run.expect(run.all, in: reader, finds: 0..<run.count)
                let eights = run.all.filter(.column("digit") == 8).order(by: "id")
                try run.expect(eights, in: reader, finds: stride(from: 1, to: run.count, by: 10))
            }
        },
        operation("SCA-030", "Every row is found and deleted by its id, and no other") { run in
            try run.store.base.read { reader in
                for number in 0..<run.count {
                    let found = try reader.withRow(in: "Many", id: .string(ManyRows.id(number))) { $0["number"]?.int }
                    try run.context.expect(found == Int64(number), "\(run.name): the row \(number) is not found by id")
                    let other = try reader.row(in: "Many", id: ManyRows.id(number) + "x")
                    try run.context.expect(other == nil, "\(run.name): a row is found by the id of none")
                }
            }
            let ids = stride(from: 0, to: run.count, by: 2).flatMap { number -> [RowID] in
                [.string(ManyRows.id(number)), .string(ManyRows.id(number) + "x")]
            }
            let deleted = try run.store.delete(ids: ids, from: "Many")
            try run.context.expect(deleted, is: (run.count + 1) / 2, "\(run.name): rows deleted by id")
            try run.lookAgain { try run.expect(run.all, in: $0, finds: stride(from: 1, to: run.count, by: 2)) }
        },
    ]

    /// Returns a check of an operation on 1, 17, 1,001, and very many rows.
    private static func operation(
        _ id: String, _ promise: String, why explanation: String = "",
        _ body: @escaping @Sendable (RowCountRun) throws -> Void
    ) -> Check {
        Check(id, "\(promise), also for very many rows", why: explanation, tier: .stress) { context in
            for count in context.settings.amounts {
                let run = try RowCountRun(count, context)
                try body(run)
                try run.store.close()
            }
        }
    }
}

/// One run of an operation: a store with a number of rows.
private final class RowCountRun {
    let context: CheckContext
    let rows: ManyRows
    let name: String
    private(set) var store: TracedStore
    let all = TableQuery("Many")

    init(_ count: Int, _ context: CheckContext) throws {
        self.context = context
        rows = ManyRows(count)
        name = "\(count) rows"
        store = try rows.store(in: context, name)
    }

    var count: Int { rows.count }

    func expect(_ query: TableQuery, in reader: any StoreReader, finds numbers: some Sequence<Int>) throws {
        try rows.expect(query, in: reader, finds: numbers, name)
    }

    /// Returns the numbers of the rows that a query finds.
    func numbers(_ reader: any StoreReader, _ query: TableQuery) throws -> [Int] {
        try reader.rows(matching: query).rows.compactMap { $0["number"]?.int.map(Int.init) }
    }

    /// Calls `look` in a read, and again after the store was reopened.
    func lookAgain(_ look: (any StoreReader) throws -> Void) throws {
        try store.read { try look($0) }
        guard context.capabilities.isPersistent else { return }
        store = try context.reopened(store)
        try store.read { try look($0) }
    }

    /// Changes the rows that follow in a scan, deletes some, and inserts others before, between, and after them.
    func change(from step: Int, of numbers: [Int], _ writer: TracedWriter) throws {
        let ahead = numbers[(step + 1)...].prefix(499)
        let changed = ahead.map {
            ["id": .string(ManyRows.id($0)), "number": .int(Int64(-$0 - 1)), "digit": -1] as Row
        }
        try writer.upsert(changed, into: "Many")
        try writer.delete(ids: ahead.filter { $0 % 3 == 0 }.map { .string(ManyRows.id($0)) }, from: "Many")
        let new = ["a", "\(ManyRows.id(count / 2)) a", "z"].map { id in
            ["id": .string("\(id) \(step)"), "number": .int(Int64(count + step)), "digit": 5] as Row
        }
        try writer.upsert(new, into: "Many")
    }

    /// Returns a merge of all rows that changes their digits only.
    func merged() throws -> PackedRows {
        var packed = PackedRows(shape: ManyRows.schema.makeShape())
        for number in 0..<count {
            packed.beginRow()
            packed.setID(.string(ManyRows.id(number)))
            packed.setInt(Int64(9 - number % 10), at: 1)
            try packed.endRow()
        }
        return packed
    }
}

extension ManyRows {
    /// Returns the numbers of the rows in the order of their texts; equal texts are in the order of ids.
    fileprivate func sortedByText(descending: Bool) -> [Int] {
        let texts = (0..<count).map { ($0, Array(text($0).utf8)) }
        return texts.sorted { a, b in
            guard a.1 != b.1 else { return a.0 < b.0 }
            let isLess = a.1.lexicographicallyPrecedes(b.1)
            return isLess != descending
        }.map(\.0)
    }
}
