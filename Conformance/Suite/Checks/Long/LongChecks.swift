internal import Foundation
internal import Synchronization
internal import TidelineStore

extension Check {
    /// Faults that show only after minutes: very many operations, very large values, and long waits.
    static let long: [Check] = [longAmounts, longWaits].flatMap { $0 }

    /// Very many operations. Memory, files, and descriptors are compared before and after.
    private static let longAmounts: [Check] = [
        Check(
            "LNG-001",
            "100,000 commits keep their rows and use no more memory, files, or disk space than their content",
            why: "A cache, log, or list of free pages that grows with each commit is small after a thousand of them.",
            tier: .long
        ) { context in
            let (commits, ids) = (context.long(100_000), 1_000)
            let store = try context.store(ManyRows.schema)
            try Resources.expectSteady(context, operations: commits, "\(commits) commits") { steps in
                for number in steps {
                    let row: Row = ["id": .string(ManyRows.id(number % ids)), "number": .int(Int64(number))]
                    try store.base.write { writer in
                        try writer.upsert(row, into: "Many")
                        if number % 7 == 0 {
                            try writer.delete(ids: [.string(ManyRows.id((number + 1) % ids))], from: "Many")
                        }
                    }
                }
            }
            var expected: [Int: Int] = [:]
            for number in 0..<commits {
                expected[number % ids] = number
                if number % 7 == 0 { expected[(number + 1) % ids] = nil }
            }
            try context.reopened(store).read { reader in
                let found = try reader.allRows("Many").map { $0["number"]?.int ?? -1 }
                let numbers = expected.sorted { $0.key < $1.key }.map { Int64($0.value) }
                try context.expect(found == numbers, "the numbers differ after \(commits) commits")
            }
        },
        Check("LNG-002", "1,000 tables keep their rows and indexes", tier: .long) { context in
            let tables = (0..<context.tableCount(context.long(1_000))).map {
                TableSchema("Table \($0)", columns: [.int("n")], indexes: [["n"]])
            }
            let store = try context.open()
            for table in tables {
                try store.define([table])
                try store.put(longRows(of: table), into: table.name)
            }
            try context.expect(store.tables().count, is: tables.count, "the number of tables")
            try context.reopened(store).read { reader in
                for table in tables {
                    let query = TableQuery(table.name).order(by: "n", descending: true)
                    let rows = table.completing(longRows(of: table))
                    try context.expect(query, in: reader, over: rows, of: table, "\(tables.count) tables")
                }
            }
        },
        Check(
            "LNG-003", "1,000 columns are stored, filtered, sorted, indexed, selected, and merged, each of them",
            why: "Engines limit the columns of a table, an index, a statement, and a result by different numbers.",
            tier: .long
        ) { context in
            let names = (0..<min(context.long(1_000), TableSchema.maximumColumnCount)).map { "c\($0)" }
            let schema = TableSchema(
                "Wide", columns: names.map { .int($0) }, systemColumns: [],
                indexes: [IndexSchema(Array(names.suffix(8)))])
            let store = try context.store(schema)
            var rows: [Row] = (0..<3).map { number in
                names.enumerated().reduce(into: Row(id: .string("r\(number)"))) { row, column in
                    row[column.element] = .int(Int64((column.offset * 7 + number * 5) % 11))
                }
            }
            try store.put(rows, into: "Wide")
            let merges = names.reduce(into: Row(id: "r1")) { $0[$1] = 12 }
            try store.put(merges, into: "Wide")
            rows[1] = merges
            // Only the last term distinguishes the rows.
            let (others, last) = (names.dropLast(), RowPredicate.column(names[names.count - 1]) == 12)
            let and = TableQuery("Wide", predicate: .and(others.map { .column($0) >= 0 } + [last]))
            let or = TableQuery("Wide", predicate: .or(others.map { .column($0) == -1 } + [last]))
            var ordered = TableQuery("Wide")
            ordered.order = names.map { OrderTerm($0, descending: true) }
            var selected = TableQuery("Wide")
            selected.selection = names.reversed()
            let reopened = try context.reopened(store)
            for query in [and, or, ordered, selected] {
                try context.onSmallStack("a query of \(names.count) columns") { [rows] in
                    try reopened.read { try context.expectAnswerOrRefusal(query, in: $0, over: rows, of: schema) }
                }
            }
            try reopened.read { reader in
                for name in names {
                    let query = TableQuery("Wide", predicate: .column(name) < 12).order(by: name)
                    try context.expectAnswerOrRefusal(query, in: reader, over: rows, of: schema)
                }
            }
        },
        Check(
            "LNG-004", "Values of 64 MiB are stored and returned byte for byte, and their space is reused", tier: .long
        ) { context in
            let size = context.long(64 << 20)
            let pattern = Array("0123456789abcdefghijklmnopqrstuvwxyzäöü".utf8)
            let bytes = (0..<size).map { pattern[$0 % pattern.count] }
            let text = String(decoding: bytes.prefix(size - size % pattern.count), as: UTF8.self)
            let schema = TableSchema("Large", columns: [.string("s"), .bytes("b"), .json("j")], systemColumns: [])
            var store = try context.store(schema)
            var sizes: [Int] = []
            // If no space were reused, the last size would exceed the limit.
            for round in 0..<12 {
                let row: Row = ["id": "1", "s": .string(text), "b": .bytes(bytes), "j": .json("\"\(text)\"")]
                try store.base.write { writer in
                    try writer.upsert([row, ["id": "2", "s": .string("\(round)")]], into: "Large")
                }
                store = try context.reopened(store)
                let found = try store.base.row(in: "Large", "1")
                try context.expect(found == row, "a row with values of \(size) bytes differs in round \(round)")
                try store.base.delete(ids: ["1"], from: "Large")
                sizes.append(ProcessState.size(of: context.directory))
            }
            let limit = 8 * 3 * size + 64 << 20
            try context.expect(
                sizes.max() ?? 0 <= limit, "the files have \(sizes) bytes after each round, expected at most \(limit)")
        },
        Check("LNG-005", "10,000 failures of each kind leave the store as usable, and as large, as before", tier: .long)
        { context in
            let store = try context.store(.notes, holding: [["id": "a", "number": 1]])
            let count = context.long(10_000)
            for refusal in RefusedCall.allCases {
                try Resources.expectSteady(context, operations: count, "\(count) calls of the kind \(refusal)") {
                    try refusal.repeated($0.count, in: store, context)
                }
                try RefusedCall.expectWorking(store, context, after: refusal)
            }
        },
        Check("LNG-006", "2,000 reads that begin at once on separate threads all see all rows", tier: .long) {
            context in
            let store = try context.store(.notes, holding: (0..<20).map { ["id": .string("n\($0)")] })
            for _ in 0..<3 { try readAtOnce(context.long(2_000), store, context) }
        },
        Check("LNG-007", "10,000 openings leave no file open and no memory in use", tier: .long, needs: [.persistence])
        { context in
            let count = context.long(10_000)
            try context.store(.notes).close()
            try Resources.expectSteady(context, operations: count, "\(count) openings") { steps in
                for number in steps {
                    let store = try context.harness.open(StoreOpening(directory: context.folder("store")))
                    if number % 10 == 0 { try store.put(["id": "a"] as Row, into: "Note") }
                    _ = try store.count(TableQuery("Note"))
                    try store.close()
                }
            }
        },
        Check(
            "LNG-008", "After 5,000 changes of an index and of a column, definitions are still accepted",
            why: "A number, name, or map that is used up by each removed index is never available again.", tier: .long
        ) { context in
            let store = try context.store(.notes, holding: [["id": "a", "number": 1], ["id": "b", "number": 2]])
            let count = context.long(5_000)
            for number in 0..<count {
                var schema = TableSchema.notes
                schema.indexes = number % 2 == 0 ? [["number", "text"]] : [["text"]]
                if number % 4 < 2 { schema.columns.append(.int("more")) }
                try store.base.define([schema])
            }
            var schema = TableSchema.notes
            schema.indexes = [["number"]]
            try store.define([schema])
            let descending = TableQuery("Note").order(by: "number", descending: true)
            try context.expect(descending, in: context.reopened(store), finds: ["b", "a"])
        },
    ]

    private static func longRows(of table: TableSchema) -> [Row] {
        (0..<(table.name.utf8.count % 5 + 1)).map { ["id": .string("\($0)"), "n": .int(Int64($0 * 7 % 5))] }
    }

    /// Waits of ten seconds.
    private static let longWaits: [Check] = [
        Check(
            "LNG-020", "A write waits 10 s for another write, and is not refused",
            why: "A purge or a large pull takes that long; a write of the app must not fail meanwhile.", tier: .long
        ) { context in
            let store = try context.store(.notes)
            let team = ThreadTeam(context)
            let isBeginning = Signal()
            try store.write { writer in
                team.start {
                    isBeginning.send()
                    try store.put(["id": "b"], into: "Note")
                }
                try isBeginning.wait(context, "the second writer's thread does not start")
                context.longWait()
                try writer.upsert(["id": "a"], into: "Note")
            }
            try team.wait(for: "a write that waits for another")
            try context.expect(TableQuery("Note"), in: store, finds: ["a", "b"])
        },
        Check("LNG-021", "Closing waits 10 s for a read and a write in flight", tier: .long) { context in
            for kind in ["read", "write"] {
                let store = try context.store(.notes, in: kind)
                let team = ThreadTeam(context)
                let isInside = Signal()
                let hasEnded = Atomic(false)
                team.start {
                    if kind == "read" {
                        try store.read { reader in
                            isInside.send()
                            context.longWait()
                            try context.expect(reader.count(TableQuery("Note")), is: 0, "the count of a long read")
                            hasEnded.store(true, ordering: .sequentiallyConsistent)
                        }
                    } else {
                        try store.write { writer in
                            isInside.send()
                            context.longWait()
                            try writer.upsert(["id": "a"], into: "Note")
                            hasEnded.store(true, ordering: .sequentiallyConsistent)
                        }
                    }
                }
                try isInside.wait(context, "the body of the \(kind) does not start")
                do { try store.close() } catch { throw CheckFailure("closing during a long \(kind): \(error)") }
                let waited = hasEnded.load(ordering: .sequentiallyConsistent)
                try team.wait(for: "a long \(kind)")
                try context.expect(waited, "close() returned during a long \(kind)")
                guard kind == "write", context.capabilities.isPersistent else { continue }
                try context.expect(TableQuery("Note"), in: context.open(kind), finds: ["a"])
            }
        },
        Check(
            "LNG-022", "A read of 10 s sees one snapshot while others commit", tier: .long,
            needs: [.readersBesideWriter]
        ) { context in
            let store = try context.store(.notes, holding: [["id": "a", "number": 0]])
            try store.base.read { reader in
                let end = ContinuousClock.now + context.longDuration
                var number: Int64 = 0
                while ContinuousClock.now < end {
                    number += 1
                    try context.elsewhere("a write during a long read") { [number] in
                        try store.base.write {
                            try $0.upsert(["id": "a", "number": .int(number)] as Row, into: "Note")
                        }
                    }
                    let found = try reader.row(in: "Note", id: "a")?["number"]
                    try context.expect(found, is: 0, "the number in a long read after \(number) commits")
                }
            }
        },
    ]
}

extension CheckContext {
    /// The part of the full amounts that is checked: all for 100,000 rows, less for fewer, for tests of the suite.
    private var longShare: Double { Double(settings.rows) / 100_000 }

    /// Returns a number of items for a check of the tier ``CheckTier/long``.
    func long(_ count: Int) -> Int { max(Int(Double(count) * longShare), 10) }

    /// The duration of a long wait.
    var longDuration: Duration { .seconds(min(max(10 * longShare, 0.05), 60)) }

    /// Waits, as a body that takes long does.
    func longWait() { Thread.sleep(forTimeInterval: longDuration / .seconds(1)) }
}

/// The resources that a process and the files of a store use.
struct Resources {
    private var memory = (try? ProcessState.knownMemory()) ?? 0
    private var descriptors = ProcessState.openDescriptorCount
    private var fileSize: Int
    private var fileCount: Int

    private init(_ context: CheckContext) {
        fileSize = ProcessState.size(of: context.directory)
        fileCount = FileManager.default.enumerator(atPath: context.directory)?.reduce(0) { count, _ in count + 1 } ?? 0
    }

    /// Performs operations and fails if those after the first tenth need more memory, descriptors, files, or space.
    static func expectSteady(
        _ context: CheckContext, operations count: Int, _ what: String, _ perform: (Range<Int>) throws -> Void
    ) throws {
        let first = max(count / 10, 1)
        try perform(0..<first)
        let before = Resources(context)
        try perform(first..<count)
        let after = Resources(context)
        // A leak of a hundred bytes with each operation is found with 100,000 operations.
        let limits: [(String, Int, Int)] = [
            ("bytes of memory", after.memory - before.memory, 16 << 20 + 64 * count),
            ("descriptors", after.descriptors - before.descriptors, 64 + count / 20),
            ("files", after.fileCount - before.fileCount, 16 + count / 1_000),
            ("bytes in files", after.fileSize - before.fileSize, 64 << 20),
        ]
        for (unit, growth, limit) in limits {
            try context.expect(growth <= limit, "\(what) took \(growth) more \(unit), expected at most \(limit)")
        }
    }
}

extension ProcessState {
    /// The number of open descriptors of this process: files in any directory, sockets, and pipes.
    static var openDescriptorCount: Int { (0..<Int32(65_536)).count { fcntl($0, F_GETFD) != -1 } }
}
