#if Commands
import Dispatch
import Foundation
import HTTPTypes
import Synchronization
import Tideline
import TidelineBenchmark
import TidelineLMDB
import TidelineLevelDB
import TidelineMemory
import TidelineSQLite
import TidelineServer
import TidelineStore

/// Works on a queue of a given length while valgrind counts the instructions; see `Benchmarks/queue`.
///
///     InstructionProbe queue ENGINE PATH fill N                   creates a store with N operations in its queue
///     InstructionProbe queue ENGINE PATH enqueue|revise|push K    performs an operation K times
///
/// The store `memory` is not persistent, so it needs `fill N` first:
/// `InstructionProbe queue memory - fill 100 push 10`.
enum QueueWork {
    static let items = TableSchema("TodoItem", columns: [.string("text"), .bool("complete")])

    /// Blocks the main thread, because valgrind does not support that it ends before the others, as it does with an
    /// asynchronous `main` on Linux.
    static func main(_ words: ArraySlice<String>) {
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await run(words)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                exit(1)
            }
            isDone.signal()
        }
        isDone.wait()
    }

    private static func run(_ words: ArraySlice<String>) async throws {
        var words = words
        guard let engine = words.popFirst(), let path = words.popFirst() else { usage() }
        switch engine {
        case "sqlite": try await run(SQLiteStore(path: path), words)
        // Disk synchronization executes few instructions but would take most of the time.
        case "lmdb": try await run(LMDBStore(path: path, options: LMDBOptions(durability: .none)), words)
        case "leveldb": try await run(LevelDBStore(path: path), words)
        case "memory": try await run(MemoryStore(), words)
        default: usage()
        }
    }

    private static func run(_ store: some LocalStore, _ words: ArraySlice<String>) async throws {
        var words = words
        while let work = words.popFirst() {
            guard let count = words.popFirst().flatMap({ Int($0) }) else { usage() }
            try await run(work, count, on: store)
        }
        try store.close()
    }

    private static func run(_ work: String, _ count: Int, on store: some LocalStore) async throws {
        let transport = try LimitedTransport(requests: work == "push" ? count : 0)
        let client = try SyncClient(url: "http://server.test", store: store, transport: transport)
        try await client.define([items])
        let table = client.table("TodoItem")
        switch work {
        case "fill":
            try await table.insert(row("item-0"))
            try copyFirstOperation(count, in: store)
        case "enqueue":
            for number in 0..<count { try await table.insert(row("later-\(number)")) }
        case "revise":
            // Each update finds its pending operation by row.
            for number in 0..<count { try await table.update(row("item-\(number % 100)")) }
        case "push":
            // The request after the last one fails.
            do { try await client.context.push() } catch is SyncError {}
        default: usage()
        }
    }

    /// Extends the queue to `count` operations by copying the first, a hundred times faster than inserts.
    private static func copyFirstOperation(_ count: Int, in store: some LocalStore) throws {
        let ids = (0..<max(count, 1)).map { "item-\($0)" }
        try store.write { try $0.upsert(ids.dropFirst().map(row), into: items.name) }
        _ = try store.copyFirstOperation(for: ids.map { .string($0) }, of: items.name)
    }

    private static func row(_ id: String) -> Row { ["id": .string(id), "text": "Buy milk", "complete": false] }

    private static func usage() -> Never {
        let text = "usage: InstructionProbe queue sqlite|lmdb|leveldb|memory PATH WORK COUNT…\n"
        FileHandle.standardError.write(Data(text.utf8))
        exit(64)
    }
}

/// A transport to a server in this process that fails after a number of requests.
final class LimitedTransport: Transport {
    private let service: TableService<MemoryStore>
    private let left: Mutex<Int>

    init(requests: Int) throws {
        service = try TableService(
            store: MemoryStore(), options: TableServiceOptions(schemas: [QueueWork.items]))
        left = Mutex(requests)
    }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let isReached = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard isReached else { throw TransportError(.connection, "the connection is closed") }
        let answer = service.handle(request, body: body ?? [])
        return TransportResponse(response: answer.response, body: answer.body)
    }
}
#endif
