internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// A process that is killed during an operation larger than a commit.
    static let durabilityKilledChanges: [Check] = [
        Check(
            "DUR-105", "A process killed while it defines tables leaves the old definitions or the new ones",
            why: "An index that is recorded before it is built stays partial; tables recorded one by one are mixed.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            let base = PairedTransactions(writer: "base", count: 3, rows: 200)
            var old: [TableSchema] = []
            var span: Duration?
            for round in 0...context.kills {
                let name = "store\(round / 6)"
                if round % 6 == 0 {
                    try context.childFinishing(context.writing(base, in: name) + [.close])
                    old = PairedTransactions.tables
                }
                let new = old.map { $0.evolved(round) }
                let opening = ChildStep.open(try context.opening(name))
                let change = round.isMultiple(of: 2) ? ChildStep.define(new) : .redefine(new)
                try context.killing(
                    [change], after: [opening], within: &span, at: .random(in: 0...1.1, using: &random))
                try context.expectTables(old, or: new, in: name, holding: base)
                old = new
            }
        },
        Check(
            "DUR-111",
            "A process killed while it defines tables of very many rows leaves the old definitions or the new ones",
            why: "Indexes of many rows are built in parts, which must be invisible until the index is complete.",
            tier: .stress
        ) { context in
            let rows = max(context.settings.rows / 8, 100)
            let base = PairedTransactions(writer: "base", count: 1, rows: rows, length: 8)
            var old = PairedTransactions.tables
            var span: Duration?
            try context.childFinishing(context.writing(base) + [.close])
            for round in 0...context.kills {
                let new = old.map { $0.evolved(round) }
                // The first round measures; the others are spread evenly.
                let share = (Double(round) - 0.5) / Double(context.kills)
                let change = round.isMultiple(of: 2) ? ChildStep.define(new) : .redefine(new)
                try context.killing([change], after: [.open(context.opening())], within: &span, at: share)
                try context.expectTables(old, or: new, in: "store", holding: base)
                old = new
            }
        },
        Check(
            "DUR-106", "A process killed while it deletes many rows leaves all of them or none",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            var span: Duration?
            for round in 0...context.kills {
                let rows = PairedTransactions(writer: "r\(round)", count: 1, rows: 600)
                try context.killing(
                    [.empty(["left", "right"])], after: context.writing(rows), within: &span,
                    at: .random(in: 0...1.1, using: &random))
                let store = try context.open()
                let totals = try context.expectPairs([rows: 0...1], in: store, "after a kill while rows were deleted")
                let found = try store.count(TableQuery("left"))
                let whole = rows.rows(after: totals[rows] ?? 0).count
                try context.expect(found, is: whole, "the rows after a kill while all were deleted")
                try store.write { writer in
                    for table in PairedTransactions.tables { try writer.delete(matching: TableQuery(table.name)) }
                }
                try store.close()
            }
        },
        Check(
            "DUR-107", "A process killed while it opens a store that another killed process left loses nothing",
            why: "At opening, a store repairs and replays. A device short of memory may kill the app then, too.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            var span: Duration?
            var expected: [PairedTransactions: ClosedRange<Int>] = [:]
            for round in 0...context.kills {
                let name = "store\(round / 10)"
                if round % 10 == 0 { expected = [:] }
                let transactions = PairedTransactions(writer: "r\(round)", count: 5_000, rows: 10)
                let writing = try context.writing(transactions, in: name)
                let acknowledged = try context.killing(writing, after: 12, delay: 0.5)
                expected[transactions] = acknowledged...(acknowledged + 1)
                let opening = ChildStep.open(try context.opening(name))
                try context.killing([opening], within: &span, at: .random(in: 0...1.1, using: &random))
                let store = try context.open(name)
                let totals = try context.expectPairs(expected, in: store, "after a kill while the store was opened")
                expected = totals.mapValues { $0...$0 }
                try store.close()
            }
        },
        Check(
            "DUR-108", "A process killed while it closes the store loses nothing",
            why: "Some stores write cached data when they are closed; others compact their files.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            var span: Duration?
            var expected: [PairedTransactions: ClosedRange<Int>] = [:]
            for round in 0...context.kills {
                let name = "store\(round / 10)"
                if round % 10 == 0 { expected = [:] }
                let transactions = PairedTransactions(writer: "r\(round)", count: 8, rows: 25)
                try context.killing(
                    [.close], after: context.writing(transactions, in: name), within: &span,
                    at: .random(in: 0...1.1, using: &random))
                expected[transactions] = 8...8
                let store = try context.open(name)
                try context.expectPairs(expected, in: store, "after a kill while the store was closed")
                try store.close()
            }
        },
        Check(
            "DUR-109", "A store whose creation was interrupted by a kill is opened or created again",
            why: "An app that is killed during its first start must still be able to start afterwards.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            var span: Duration?
            let tables = PairedTransactions.tables
            for round in 0...context.kills {
                let name = "new\(round)"
                let making: [ChildStep] = [.open(try context.opening(name)), .define(tables)]
                try context.killing(making, within: &span, at: .random(in: 0...1.1, using: &random))
                let store = try context.open(name)
                let found = try store.tables()
                try context.expect(
                    found.isEmpty || found == tables,
                    "after a kill while the store was created, the tables are \(found)")
                try store.define(tables)
                let transactions = PairedTransactions(writer: "own", count: 2)
                for number in transactions.numbers { try store.write { try transactions.apply(number, to: $0) } }
                try context.expectPairs([transactions: 2...2], in: store, "in a store with an interrupted creation")
                try store.close()
            }
        },
        Check(
            "DUR-110", "A process killed while it reads does not block others",
            why: "A snapshot held by a dead reader prevents the reuse of old pages, or blocks writers."
        ) { context in
            let rows = PairedTransactions(writer: "base", count: 2, rows: 50)
            try context.child(context.writing(rows) + [.readAndWait]) { child in
                try context.expectNumbers(0..<2, from: child)
                try child.expect(ChildLine.waiting)
                try child.killAndFinish()
            }
            let store = try context.open()
            let more = PairedTransactions(writer: "own", count: 8, rows: 50)
            for number in more.numbers { try store.write { try more.apply(number, to: $0) } }
            try context.expectPairs([rows: 2...2, more: 8...8], in: store, "after a reader was killed")
        },
    ].needing(.survivingDeath, .process)
}

extension TableSchema {
    /// Returns this table with one more column and an index on it.
    fileprivate func evolved(_ round: Int) -> TableSchema {
        var table = self
        table.columns.append(.string("extra\(round)"))
        table.indexes.append(["text", "extra\(round)"])
        return table
    }
}

extension CheckContext {
    /// Fails unless the definitions are the old or new ones, rows and indexes fit, and do so after `new` again.
    fileprivate func expectTables(
        _ old: [TableSchema], or new: [TableSchema], in name: String, holding rows: PairedTransactions
    ) throws {
        let moment = "after a kill while tables were defined"
        let store = try open(name)
        let found = try store.tables()
        try expect(found == old || found == new, "\(moment), the definitions are neither old nor new: \(found)")
        for table in found { try expectIndexesAgree(table, in: store, moment) }
        try store.define(new)
        for table in new {
            try expectIndexesAgree(table, in: store, "\(moment), and defined again")
            let kept = Set(PairedTransactions.tables[0].columns.map(\.name))
            let left = try store.allRows(table.name).map { $0.filteringColumns(kept.contains) }
            try expect(left, are: rows.rows(after: rows.count), "\(moment), the rows of \(table.name)")
        }
        try store.close()
    }
}
