internal import Foundation
internal import TidelineLive
internal import TidelineStore

extension Check {
    /// The commits of other processes and other stores.
    static let externalCommits: [Check] = [
        Check(
            "OBS-012", "The external commit number is nil exactly if processes do not share the files",
            why: "Live queries look for the commits of other processes only if there is a number."
        ) { context in
            let store = try context.store(.notes)
            let isShared = context.capabilities.isPersistent && context.capabilities.sharesFilesWithProcesses
            let number = try store.externalCommits?.number()
            try context.expect(number != nil, is: isShared, "whether the store has an external commit number")
            let inWrite = try store.write { try $0.externalCommitNumber() }
            try context.expect(inWrite, is: number, "the external commit number in a write")
        },
        Check(
            "OBS-013", "The external commit number does not change by own commits, rollbacks, or empty transactions",
            why: "Live queries would be read again after each of the store's own commits.",
            needs: [.sharedFiles]
        ) { context in
            let store = try context.store(.notes)
            let number = try store.externalCommits?.number()
            try store.put(["id": "a", "text": "x", "number": 1], into: "Note")
            try context.expectExternalNumber(number, of: store, "an own commit")
            try store.rollBack { writer in
                try writer.upsert(["id": "b"], into: "Note")
                _ = try writer.delete(ids: ["a"], from: "Note")
            }
            try context.expectExternalNumber(number, of: store, "an own rollback")
            try store.delete(ids: ["nothing"], from: "Note")
            try context.expectExternalNumber(number, of: store, "an own transaction that changes nothing")
            var wider = TableSchema.notes
            wider.columns.append(.int("more"))
            wider.indexes = [["number"]]
            try store.define([wider])
            try context.expectExternalNumber(number, of: store, "an own definition")
            for number in 0..<300 {
                try store.write {
                    try $0.upsert(["id": .string("\(number)"), "text": .string(longText)], into: "Note")
                }
            }
            try context.expectExternalNumber(number, of: store, "300 own commits of long rows")
        },
        Check(
            "OBS-014", "A commit of another store over the same files changes the external commit number of the first",
            why: "Two stores of one process may share their files, too.", needs: [.sharedFiles]
        ) { context in
            let store = try context.store(.notes)
            let other = try context.open()
            var numbers = Set([try store.externalCommits?.number()])
            func expectOther(_ what: String) throws {
                let number = try store.externalCommits?.number()
                try context.expect(
                    numbers.insert(number).inserted, is: true, "whether the external commit number changes by \(what)")
                let inWrite = try store.write { try $0.externalCommitNumber() }
                try context.expect(inWrite, is: number, "the number in a write after \(what)")
            }
            try other.put(["id": "a", "number": 1], into: "Note")
            try expectOther("a commit of the other store")
            try store.put(["id": "b", "number": 2], into: "Note")
            try other.put(["id": "c", "number": 3], into: "Note")
            try store.write { writer in
                let number = try writer.externalCommitNumber()
                try context.expect(
                    numbers.insert(number).inserted, is: true,
                    "whether the number, first read in a write, changes by a commit of the other store")
                try writer.upsert(["id": "d", "number": 4], into: "Note")
            }
            try other.define([.notes, .items])
            try expectOther("a definition of the other store")
            let number = try store.externalCommits?.number()
            try other.write { _ in }
            try other.rollBack { try $0.upsert(["id": "e"], into: "Note") }
            try context.expect(
                store.externalCommits?.number(), is: number, "the number after the other store committed nothing")
        },
        Check(
            "OBS-016", "Own commits of 1, 17, 1,001, and very many rows do not change the external commit number",
            why: "A number derived from the size of the files, or from a log that is cut, counts large commits.",
            tier: .stress, needs: [.sharedFiles]
        ) { context in
            let store = try context.store(ManyRows.schema)
            let number = try store.externalCommits?.number()
            for count in context.settings.amounts {
                let rows = try ManyRows(count).packed(0..<count)
                try store.put(rows, into: "Many")
                try context.expectExternalNumber(number, of: store, "an own commit of \(count) rows")
                try store.delete(matching: TableQuery("Many"))
                try context.expectExternalNumber(number, of: store, "an own commit that deletes \(count) rows")
            }
        },
        Check(
            "OBS-017", "All stores over the same files have the same path for the signal of commits, or none",
            why: "A store with another path does not notice the commits of others until it compares numbers.",
            needs: [.sharedFiles]
        ) { context in
            let paths = try (0..<3).map { _ in try context.open().externalCommits?.signalPath }
            try context.expect(paths[1], is: paths[0], "the signalPath of a second store")
            try context.expect(paths[2], is: paths[0], "the signalPath of a third store")
        },
        Check(
            "OBS-019", "Destroying a store removes the file for the signal of commits with its other files",
            why: "A file that remains would connect a new store with the programs that observed the old one.",
            needs: [.sharedFiles, .destroying, .files]
        ) { context in
            let observed = ObservedStore(try context.open())
            try observed.define([.notes])
            _ = try ObservedQuery(TableQuery("Note"), in: observed)
            let path = observed.externalCommits?.signalPath
            try observed.put(["id": "a"], into: "Note")
            try observed.close()
            let folder = try context.folder("store")
            try context.harness.destroy?(folder)
            try context.expect(path.map(FileManager.default.fileExists) ?? false, is: false, "whether the file remains")
            try context.expect(context.names(in: folder), is: [], "the files that remain after the destruction")
        },
        Check(
            "OBS-018",
            "The external commit number is busy or correct inside the store's own bodies, and closed after close",
            needs: [.sharedFiles]
        ) { context in
            let store = try context.store(.notes)
            let number = try store.externalCommits?.number()
            func expectSameOrBusy(_ what: String) throws {
                do {
                    try context.expect(store.externalCommits?.number(), is: number, "the number inside \(what)")
                } catch let error as StoreError where error.code == .busy {}
            }
            try store.read { _ in try expectSameOrBusy("a read") }
            try store.write { writer in
                try writer.upsert(["id": "a"], into: "Note")
                try expectSameOrBusy("a write")
                try context.expect(writer.externalCommitNumber(), is: number, "the writer's number after a change")
            }
            try context.expect(store.externalCommits?.number(), is: number, "the number after the write")
            try store.close()
            try context.expectError(.closed, "the external commit number of a closed store") {
                _ = try store.externalCommits?.number()
            }
        },
        Check(
            "OBS-015", "Live queries see the commits of another process, also between own commits",
            why: "The changes of an own commit do not lead from one result to the next if others have committed since.",
            needs: [.sharedFiles, .process]
        ) { context in
            let store = ObservedStore(try context.open())
            try store.define(PairedTransactions.tables)
            let byNumber = TableQuery("left").order(by: "number")
            var queries = try [
                TableQuery("left"), byNumber.skip(1).limit(3), TableQuery("right").filter(.column("number") == 2),
            ]
            .map { try ObservedQuery($0, in: store) }
            let steps = (0..<3).flatMap { part -> [ChildStep] in
                var transactions = PairedTransactions(writer: "other", count: 2)
                transactions.first = part * 2
                return [.wait, .write(transactions)]
            }
            try context.child([.open(context.opening())] + steps + [.wait]) { child in
                for part in 0..<3 {
                    try child.expect(ChildLine.waiting)
                    child.proceed()
                    try context.expectNumbers((part * 2)..<(part * 2 + 2), from: child)
                    if part == 1 { try store.put(["id": "own", "number": 0], into: "left") }
                    for index in queries.indices {
                        try queries[index].expectCurrentSoon(in: store, context, "after another process has committed")
                    }
                    try context.expect(
                        queries[0].rows.filter { $0["writer"] == "other" },
                        are: PairedTransactions(writer: "other", count: 6).rows(after: part * 2 + 2),
                        "the rows of the live query that another process has committed")
                }
            }
        },
    ]

    private static var longText: String { String(repeating: "text ", count: 200) }
}

extension CheckContext {
    /// Fails unless the external commit number is this one, in a read and in a write.
    fileprivate func expectExternalNumber(_ number: UInt64?, of store: TracedStore, _ what: String) throws {
        try expect(store.externalCommits?.number(), is: number, "the number after \(what)")
        try expect(store.write { try $0.externalCommitNumber() }, is: number, "the number in a write after \(what)")
    }
}

extension ObservedQuery {
    /// Waits for the rows that the query returns now, and fails unless the live query has them in time.
    mutating func expectCurrentSoon(
        in store: ObservedStore<TracedStore>, _ context: CheckContext, _ what: @autoclosure () -> String
    ) throws {
        // The thread that looks for commits needs processor time, too.
        let deadline = ContinuousClock.now + .seconds(max(5, context.patience))
        let found = try store.read { try $0.rows(matching: query).rows }
        while rows != found, ContinuousClock.now < deadline {
            if try update() == nil { Thread.sleep(forTimeInterval: 0.001) }
        }
        try expectCurrent(in: store, context, what())
    }
}
