internal import TidelineStore

extension Check {
    /// Files that one process uses exclusively, and the state that a process leaves behind.
    static let lifecycleLocks: [Check] = [
        Check(
            "LIF-101", "A second process that opens an open store gets locked",
            why: "Two processes corrupt files not designed for sharing; the error says that one must close the store.",
            needs: [.exclusiveFiles, .process]
        ) { context in
            let store = try context.store(.notes)
            try context.expectLockedOut()
            try store.put(["id": "1", "text": "still here"], into: "Note")
            try context.expect(store.ids(TableQuery("Note")), is: ["1"], "the rows of the first store")
        },
        Check(
            "LIF-102", "A store that another process has open is locked until that process closes it",
            needs: [.exclusiveFiles, .process]
        ) { context in
            let steps = try context.writing(PairedTransactions(writer: "other", count: 3))
            try context.child(steps + [.wait, .close, .say("closed"), .wait]) { child in
                try context.expectNumbers(0..<3, from: child)
                try child.expect(ChildLine.waiting)
                try context.expectError(.locked, "opening a store that another process has open") {
                    try context.open().close()
                }
                child.proceed()
                try child.expect("closed")
                let writing = PairedTransactions(writer: "other", count: 3)
                try context.expectPairs([writing: 3...3], in: context.open(), "after the other process closed it")
            }
        },
        Check(
            "LIF-103", "An opening that was refused leaves the store locked",
            why: "If a lock belongs to a process, closing any handle of the file releases it for other processes.",
            needs: [.exclusiveFiles, .process]
        ) { context in
            let store = try context.store(.notes)
            try context.expectError(.locked, "opening a store a second time") { try context.open().close() }
            try context.expectLockedOut()
            try context.expectLockedOut()
            try store.close()
            try context.childFinishing([.open(context.opening()), .close])
        },
        Check(
            "LIF-104", "A lock left by a killed process does not block",
            why: "A lock file with a process number outlives the process, and another may have the number by then.",
            needs: [.survivingDeath, .process]
        ) { context in
            let writing = PairedTransactions(writer: "killed", count: 1)
            try context.child(context.writing(writing) + [.wait]) { child in
                try context.expectNumbers(0..<1, from: child)
                try child.expect(ChildLine.waiting)
                try child.killAndFinish()
            }
            let store = try context.open()
            try context.expectPairs([writing: 1...1], in: store, "after the process that had it open was killed")
            try store.put(["id": "mine"], into: "left")
            try store.close()
            try context.childFinishing([.open(context.opening()), .close])
        },
    ]

    /// Files that several processes open at the same time.
    static let lifecycleSharing: [Check] = [
        Check("LIF-105", "A second process can open an open store, and both read and write") { context in
            let store = try context.open()
            let own = PairedTransactions(writer: "own", count: 3)
            let other = PairedTransactions(writer: "other", count: 3)
            try store.define(PairedTransactions.tables)
            for number in own.numbers { try store.write { try own.apply(number, to: $0) } }
            try context.childFinishing(context.writing(other) + [.close])
            try context.expectPairs([own: 3...3, other: 3...3], in: store, "after another process wrote")
        },
        Check(
            "LIF-106", "Closing one of two stores on the same files does not release the other's locks",
            why: "If locks belong to a process, closing any handle releases those of the store that is still open.",
            tier: .stress
        ) { context in
            let store = try context.store(PairedTransactions.tables)
            let second = try context.open()
            _ = try second.allRows("left")
            try second.close()
            let times = 100 * context.rounds
            try context.child([
                .open(context.opening()), .wait, .increment(PairedCounter(), times: times), .close,
            ]) { child in
                try child.expect(ChildLine.waiting)
                child.proceed()
                for _ in 0..<times { _ = try PairedCounter().increment(in: store) }
                try context.finish(child, "another process that increments a number")
            }
            let row = try store.row(in: "left", "counter")
            try context.expect(row?["number"], is: .int(Int64(2 * times)), "the sum of the increments of two processes")
        },
        Check(
            "LIF-107", "A process that closes the store leaves it open for the others",
            why: "The last process to close performs the cleanup; a process that closes earlier must not."
        ) { context in
            let own = PairedTransactions(writer: "own", count: 12, rows: 5)
            let store = try context.store(PairedTransactions.tables)
            for number in own.numbers {
                if number % 4 == 1 {
                    let other = PairedTransactions(writer: "other\(number)", count: 2)
                    try context.childFinishing(context.writing(other) + [.close])
                }
                try store.write { try own.apply(number, to: $0) }
            }
            var expected = [own: 12...12]
            for number in [1, 5, 9] { expected[PairedTransactions(writer: "other\(number)", count: 2)] = 2...2 }
            try context.expectPairs(expected, in: store, "after other processes opened and closed the store")
            let reopened = try context.reopened(store)
            try context.expectPairs(expected, in: reopened, "after the last one closed it")
        },
    ].needing(.sharedFiles, .process)
}

extension CheckContext {
    /// Fails unless a second process that opens the store gets `locked`, with an error that names its path.
    fileprivate func expectLockedOut() throws {
        let opening = try opening()
        let end = try child([.open(opening), .close]) { try $0.finish() }
        guard let failure = end.failure else {
            throw CheckFailure("a second process opened an open store: expected StoreError locked, but \(end)")
        }
        try expect(
            failure.code == .locked,
            "a second process opened an open store: expected StoreError locked, but got \(failure)")
        let place = failure.path ?? failure.message
        try expect(place.contains(opening.directory), "the error does not name the store's path: \(failure)")
    }
}
