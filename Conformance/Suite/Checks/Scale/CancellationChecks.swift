internal import Foundation
internal import Synchronization
internal import TidelineStore

extension Check {
    /// Tasks that are cancelled before or during a write.
    static let scaleCancellation: [Check] = [
        Check(
            "SCA-014", "A write of an already cancelled task completes, or throws cancelled and leaves nothing",
            why: "A view that disappears cancels its task; its data must be stored completely or not at all."
        ) { context in
            let store = try context.store(.items, .notes)
            let result = try inTask(context) { task in
                task.cancel()
                try writePair(to: store) {}
            }
            try expectWhole(result, in: store, context)
        },
        Check(
            "SCA-015", "A write of a task cancelled during the write completes, or throws cancelled and leaves nothing"
        ) { context in
            for moment in 0..<4 {
                let name = "cancelled \(moment)"
                let store = try context.store(.items, .notes, in: name)
                let result = try inTask(context) { task in
                    var calls = 0
                    try writePair(to: store) {
                        if calls == moment { task.cancel() }
                        calls += 1
                    }
                }
                try expectWhole(result, in: store, context)
            }
        },
        Check(
            "SCA-016", "Writes of tasks cancelled from outside at any point complete or leave nothing",
            tier: .stress
        ) { context in
            let store = try context.store(.items, .notes)
            var acknowledged: [Int] = []
            for number in 0..<40 * context.rounds {
                let result = try inTask(context) { task in
                    Thread { task.cancel() }.start()
                    for part in 0..<4 { try writePart(part, of: number, to: store) }
                }
                switch result {
                case .success: acknowledged.append(number)
                case .failure(let error): try expectCancelled(error)
                }
            }
            let (items, notes) = try context.reopened(store).read { reader in
                (try reader.ids(TableQuery("TodoItem")), try reader.ids(TableQuery("Note")))
            }
            try context.expect(items, is: notes, "the ids in the two tables; each write stores each id in both")
            let wanted = acknowledged.flatMap { number in (0..<4).map { "\(number)-\($0)" } }
            let lost = wanted.filter { !items.contains($0) }
            try context.expect(lost, is: [], "the acknowledged ids that are missing")
        },
        Check("SCA-017", "A read of a cancelled task returns the correct rows or throws cancelled") { context in
            let rows = (0..<100).map { ["id": .string("\($0)"), "number": .int($0)] as Row }
            let store = try context.store(.notes, holding: rows)
            let found = Mutex<[Row]>([])
            let result = try inTask(context) { task in
                task.cancel()
                let rows = try store.allRows("Note")
                found.withLock { $0 = rows }
            }
            if case .failure(let error) = result { return try expectCancelled(error) }
            let expected = TableSchema.notes.completing(rows.sorted { $0.idText < $1.idText })
            try context.expect(found.withLock { $0 }, are: expected, "the rows read by a cancelled task")
        },
    ]

    /// Writes rows to two tables, in four calls.
    private static func writePair(to store: TracedStore, before call: () -> Void) throws {
        call()
        try store.write { writer in
            for (number, table) in ["TodoItem", "Note", "TodoItem"].enumerated() {
                let rows = (0..<50).map { ["id": .string("\(number)-\($0)"), "text": "x"] as Row }
                try writer.upsert(rows, into: table)
                call()
            }
        }
    }

    private static func writePart(_ part: Int, of number: Int, to store: TracedStore) throws {
        try store.write { writer in
            for table in ["TodoItem", "Note"] {
                try writer.upsert(["id": .string("\(number)-\(part)"), "text": "x"] as Row, into: table)
            }
        }
    }

    /// Expects all or none of the rows of ``writePair(to:before:)``, and that the store still works.
    private static func expectWhole(_ result: Result<Void, any Error>, in store: TracedStore, _ context: CheckContext)
        throws
    {
        if case .failure(let error) = result { try expectCancelled(error) }
        let expected = if case .success = result { [100, 50] } else { [0, 0] }
        let counts = try store.read { reader in
            [try reader.count(TableQuery("TodoItem")), try reader.count(TableQuery("Note"))]
        }
        try context.expect(counts, is: expected, "the rows of the two tables after the write \(result)")
        try store.put(["id": "after"] as Row, into: "Note")
        let after = try store.row(in: "Note", "after")
        try context.expect(after != nil, "a row that another task writes afterwards is missing")
    }

    /// Fails unless an error is a ``StoreError`` with the code `cancelled`.
    static func expectCancelled(_ error: any Error) throws {
        guard (error as? StoreError)?.code == .cancelled else {
            throw CheckFailure("a cancelled task's call should complete or throw cancelled, but threw \(error)")
        }
    }

    /// Runs `body` in a task and waits for its end.
    static func inTask(
        _ context: CheckContext, _ body: @escaping @Sendable (RunningTask) throws -> Void
    ) throws -> Result<Void, any Error> {
        let ended = Signal()
        let result = Mutex<Result<Void, any Error>>(.success(()))
        let running = RunningTask()
        let task = Task.detached(executorPreference: OwnThread.executor) {
            let outcome = Result { try body(running) }
            result.withLock { $0 = outcome }
            ended.send()
        }
        running.set(task)
        try ended.wait(context, "a call of a cancelled task does not return")
        return result.withLock { $0 }
    }
}

/// Runs each task on a thread of its own: synchronous tests may occupy every thread of Swift's default executor.
private final class OwnThread: TaskExecutor {
    static let executor = OwnThread()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// A task that can be cancelled from its body and from other threads.
final class RunningTask: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    func set(_ task: Task<Void, Never>) { self.task.withLock { $0 = task } }

    /// Cancels the task; waits until it has been registered after its start.
    func cancel() {
        while true {
            if let task = task.withLock({ $0 }) { return task.cancel() }
            sched_yield()
        }
    }
}
