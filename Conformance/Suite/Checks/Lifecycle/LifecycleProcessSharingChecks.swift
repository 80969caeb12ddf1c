internal import TidelineStore

extension Check {
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
            why: """
                If a lock belongs to a process instead of a file handle, closing any handle of the file releases the \
                locks of the process: the store that is still open then writes concurrently with other processes.
                """,
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
