import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules Q1, Q2 and Q4: the queue during a push and across restarts.
@Suite("Queue", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct QueueTests {
    // MARK: Numbers and listing

    @Test("Q1 operation IDs always increase, also after an empty queue and a restart", arguments: StoreKind.persistent)
    func numbers(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let file = try StoreFiles(stores)
        var last: Int64 = 0
        for round in 1...3 {
            let store = try file.open()
            let client = try await world.makeClient(store: store)
            try await client.items.insert(["id": .string("r\(round)"), "text": "one"])
            try await client.items.insert(["id": .string("s\(round)"), "text": "one"])
            let ids = try await client.context.pendingOperations().map(\.id)
            #expect(ids.count == 2 && ids[0] > last && ids[1] > ids[0])
            last = ids.last ?? 0
            if round == 1 { try await client.context.push() } else { try await client.items.forcePurge() }
            #expect(try await client.context.pendingOperationsCount == 0)
            try store.close()
        }
    }

    @Test("Q1 operation IDs follow the order of changes if two clients share a store", arguments: StoreKind.perEngine)
    func numbersOfTwoClients(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let first = try await world.makeSyncedClient()
        let second = try await world.makeClient(store: first.store)
        var expected: [String] = []
        for number in 0..<200 {
            // Each client makes several changes in a row, and one of them rolls back a transaction in between.
            let client = number / 3 % 2 == 0 ? first : second
            if number % 7 == 0 {
                await rollBack(client) { try $0.insert(["id": "gone", "text": "new"], into: "TodoItem") }
            }
            try await client.items.insert(["id": .string("r\(number)"), "text": "new"])
            expected.append("r\(number)")
        }
        let operations = try await first.context.pendingOperations()
        #expect(operations.map(\.itemID) == expected)
        #expect(Set(operations.map(\.id)).count == expected.count)
    }

    /// The client that rolled back believes to have raised the counter to the number to which another then raises it.
    @Test(
        "Q1 no operation ID is assigned twice, or above the counter, after a first transaction rolled back",
        arguments: StoreKind.perEngine, [[0, 0], [1, 0, 1, 0]])
    func numbersAfterRollback(_ stores: StoreKind, order: [Int]) async throws {
        let world = try World(stores)
        let first = try await world.makeClient()
        let clients = [first, try await world.makeClient(store: first.store)]
        await rollBack(first) { try $0.insert(["id": "gone", "text": "new"], into: "TodoItem") }
        for (number, client) in order.enumerated() {
            try await clients[client].items.insert(["id": .string("r\(number)"), "text": "new"])
        }
        let operations = try await first.context.pendingOperations()
        #expect(operations.map(\.itemID) == order.indices.map { "r\($0)" })
        let counter = try first.store.read { try $0.row(in: "MS_TableConfig", id: "lastOperationId") }?["value"]?.string
        let limit = try #require(counter?.split(separator: " ").first.flatMap { Int64($0) })
        #expect(operations.allSatisfy { $0.id <= limit })
    }

    /// Rolls a transaction back.
    private func rollBack(
        _ client: Client, _ changes: @escaping @Sendable (SyncTransaction) throws -> Void
    ) async {
        await #expect(throws: CancellationError.self) {
            try await client.context.transaction { transaction in
                try changes(transaction)
                throw CancellationError()
            }
        }
    }

    @Test(
        "Q1 processes that edit in turn never assign one operation ID, also if no store counts the commits of others",
        arguments: StoreKind.sharing)
    func numbersOfProcesses(_ stores: StoreKind) async throws {
        let file = try StoreFiles(stores)
        try await editInTurn(World(stores)) { try file.open() }
        let others = try StoreFiles(stores)
        try await editInTurn(World(stores)) { UncountedStore(base: try others.open()) }
    }

    private func editInTurn(_ world: World, _ open: () throws -> some LocalStore) async throws {
        let clients = [try await world.makeClient(over: open()), try await world.makeClient(over: open())]
        for number in 0..<8 { try await clients[number / 2 % 2].items.insert(["id": .string("r\(number)")]) }
        #expect(try await clients[0].context.pendingOperations().map(\.itemID) == (0..<8).map { "r\($0)" })
    }

    @Test("Q1 a change finds the operation that another client has added to its row", arguments: StoreKind.perEngine)
    func operationOfOtherClient(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let first = try await world.makeClient()
        try await changeInTurn(first, try await world.makeClient(store: first.store))
    }

    @Test("Q1 a change finds the operation that another process has added to its row", arguments: StoreKind.sharing)
    func operationOfOtherProcess(_ stores: StoreKind) async throws {
        let (world, file) = (try World(stores), try StoreFiles(stores))
        let first = try await world.makeClient(store: try file.open())
        try await changeInTurn(first, try await world.makeClient(store: try file.open()))
    }

    private func changeInTurn(_ first: Client, _ second: Client) async throws {
        try await first.items.insert(["id": "a"])
        try await second.items.insert(["id": "b"])
        try await first.items.update(["id": "b", "text": "edited"])
        await rollBack(first) {
            try $0.delete(id: "a", from: "TodoItem")
            try $0.insert(["id": "gone"], into: "TodoItem")
        }
        try await second.items.update(["id": "a", "text": "edited"])
        try await first.items.insert(["id": "gone"])
        try await first.items.delete(id: "gone")
        #expect(try await first.queue() == ["insert a", "insert b"])
        try await second.items.forcePurge()
        try await first.items.insert(["id": "a"])
        try await first.items.update(["id": "a", "text": "edited"])
        #expect(try await second.queue() == ["insert a"])
    }

    /// The transaction reads the queue after it has removed the operation.
    @Test(
        "Q1 a change finds the operation that a transaction removed before it failed, also as it was committed",
        arguments: StoreKind.perEngine, [false, true])
    func operationRemovedAndRestored(_ stores: StoreKind, isCommitted: Bool) async throws {
        let (world, store) = (try World(stores), HookedStore(try stores.makeStore()))
        let clients = [try await world.makeClient(over: store), try await world.makeClient(over: store)]
        try await clients[0].items.insert(["id": "a"])
        store.onWrite { _ in if isCommitted { throw CancellationError() } }
        await #expect(throws: (any Error).self) {
            try await clients[1].client.transaction { transaction in
                try transaction.delete(id: "a", from: "TodoItem")
                for number in 0..<200 { try transaction.insert(["id": .string("r\(number)")], into: "TodoItem") }
                if !isCommitted { throw CancellationError() }
            }
        }
        store.onWrite(nil)
        try await clients[1].items.update(["id": "a", "text": "edited"])
        #expect(try await clients[1].queue() == ["insert a"])
    }

    @Test("Q1 a change finds the operation that was added before a restart", arguments: StoreKind.persistent)
    func operationBeforeRestart(_ stores: StoreKind) async throws {
        let (world, file) = (try World(stores), try StoreFiles(stores))
        for text in ["one", "two", "three"] {
            let store = try file.open()
            let client = try await world.makeClient(store: store)
            if text == "one" { try await client.items.insert(["id": "a"]) }
            try await client.items.update(["id": "a", "text": .string(text)])
            #expect(try await client.queue() == ["insert a"])
            try store.close()
        }
    }

    @Test(
        "Q1 a damaged operation counter is an error and does not reuse a number", arguments: StoreKind.perEngine,
        ["x", "9223372036854775807"])
    func damagedCounter(_ stores: StoreKind, value: String) async throws {
        let (world, synced) = try await World.withSyncedClient(stores)
        try synced.store.write {
            try $0.upsert(["id": "lastOperationId", "value": .string(value)], into: "MS_TableConfig")
        }
        // The other client does not own a block of numbers.
        let client = try await world.makeClient(store: synced.store)
        #expect(await syncErrorCode { try await client.items.insert(["id": "b", "text": "new"]) } == .store)
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
    }

    @Test("Q1 a lost or decreased counter is restored from the newest operation", arguments: StoreKind.perEngine)
    func lostCounter(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        var ids: [Int64] = []
        for (number, value) in ["", "none", "", "0", "", "3", "none"].enumerated() {
            try client.store.write { writer in
                switch value {
                case "": break
                case "none": try writer.delete(id: "lastOperationId", from: "MS_TableConfig")
                default: try writer.upsert(["id": "lastOperationId", "value": .string(value)], into: "MS_TableConfig")
                }
            }
            try await client.items.insert(["id": .string("new-\(number)"), "text": "new"])
            let before = ids
            ids = try await client.context.pendingOperations().map(\.id)
            #expect(ids == before + [before.last.map { $0 + 1 } ?? ids.first ?? 0])
        }
    }

    @Test(
        "Q1 an attempt is stored, visible to other processes, before the request is sent", arguments: StoreKind.sharing,
        OperationKind.allCases
    )
    func attempted(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let world = try World(stores)
        let file = try StoreFiles(stores)
        let client = try await world.makeSyncedClient(store: try file.open())
        let second = try file.open()
        let seen = HeaderLog()
        client.transport.inspect { request, _ in
            guard request.method != .get else { return .loseRequest }
            let rows = try? second.read { try $0.rows(matching: TableQuery("MS_TableOperations")).rows }
            seen.add(rows?.map { "\($0["attempts"]?.int ?? -1)" }.joined())
            return .loseRequest
        }
        try await client.items.edit(kind)
        for _ in 1...2 { #expect(await syncErrorCode { try await client.context.push() } == .network) }
        #expect(seen.values == ["1", "2"])
        #expect(try await client.context.pendingOperations().map(\.attempts) == [2])
    }

    @Test("Q4 the queue is counted and listed: table, ID, kind, attempts, last error", arguments: StoreKind.perEngine)
    func listing(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        #expect(try await client.context.pendingOperationsCount == 0)
        try await client.items.update(["id": "a", "text": "two"])
        try await client.items.insert(["id": "b", "text": "new"])
        #expect(try await client.context.pendingOperationsCount == 2)
        client.transport.inspect { request, _ in
            request.isUpdate ? .answer(.answer(403, #"{"error":"not yours"}"#)) : nil
        }
        #expect(try await pushErrors(client).count == 1)
        let operations = try await client.context.pendingOperations()
        #expect(operations.map { "\($0.table) \($0.itemID) \($0.kind) \($0.attempts)" } == ["TodoItem a update 1"])
        #expect(operations.first?.lastError == "not yours")
        try await client.items.update(["id": "a", "text": "three"])
        #expect(try await client.context.pendingOperations().first?.lastError == nil)
    }

    // MARK: Q2, changes while an operation is in flight

    /// The app's change during the exchange.
    enum Edit: String, CaseIterable, Sendable {
        case update, otherColumn, clear, backToBase, delete, deleteAndInsert, insertAndDelete

        /// Returns whether the edit is possible while that operation is in flight.
        func fits(_ sent: OperationKind) -> Bool {
            switch self {
            case .insertAndDelete: sent == .delete
            case .deleteAndInsert: true
            default: sent != .delete
            }
        }
    }

    /// The outcome of the exchange.
    enum End: String, CaseIterable, Sendable {
        case success, rejected, requestLost, answerLost, noBody
    }

    struct Flight: Sendable, CustomTestStringConvertible {
        var sent: OperationKind
        var edit: Edit
        var end: End
        var testDescription: String { "\(sent), meanwhile \(edit), then \(end)" }
    }

    static let flights: [Flight] = OperationKind.allCases.flatMap { sent in
        Edit.allCases.filter { $0.fits(sent) }.flatMap { edit in
            End.allCases.map { Flight(sent: sent, edit: edit, end: $0) }
        }
    }

    @Test(
        "Q2 an edit made while its row is in flight is never lost and never conflicts with itself",
        arguments: StoreKind.perEngine, flights)
    func editInFlight(_ stores: StoreKind, _ flight: Flight) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await fly(flight, world, client, editor: client.items)
    }

    @Test("Q2 the same for an edit by another process on the same store", arguments: StoreKind.sharing, flights)
    func editByOtherProcess(_ stores: StoreKind, _ flight: Flight) async throws {
        let world = try World(stores)
        let file = try StoreFiles(stores)
        let client = try await world.makeSyncedClient(store: try file.open())
        let editor = try await world.makeClient(store: try file.open())
        try await fly(flight, world, client, editor: editor.items)
    }

    /// Sends an operation, edits its row meanwhile, pushes until the queue is empty, and compares both sides.
    private func fly(_ flight: Flight, _ world: World, _ client: Client, editor: SyncTable) async throws {
        let row: Row = flight.sent == .insert ? ["text": "new", "priority": 7] : ["text": "two"]
        let id = try await client.items.edit(flight.sent, row)
        let once = Once()
        client.transport.inspect { _, _ in
            guard once.first() else { return nil }
            await #expect(throws: Never.self) { try await edit(flight.edit, id, editor) }
            return fault(flight.end)
        }
        _ = try? await client.context.push()
        for _ in 1...3 where try await client.context.pendingOperationsCount > 0 { try await client.context.push() }
        #expect(try await client.queue().isEmpty)
        #expect(try await client.context.operationErrors().isEmpty)
        try expectAgreement(flight, id, world, client)
        try await client.items.pull()
        try expectAgreement(flight, id, world, client)
    }

    private func edit(_ edit: Edit, _ id: String, _ items: SyncTable) async throws {
        switch edit {
        case .update: try await items.update(["id": .string(id), "text": "edited"])
        case .otherColumn: try await items.update(["id": .string(id), "priority": 5])
        case .clear: try await items.update(["id": .string(id), "text": .null, "priority": .null])
        case .backToBase: try await items.update(["id": .string(id), "text": "one"])
        case .delete: try await items.delete(id: id)
        case .deleteAndInsert:
            try await items.delete(id: id)
            try await items.insert(["id": .string(id), "text": "again"])
        case .insertAndDelete:
            try await items.insert(["id": .string(id), "text": "again"])
            try await items.delete(id: id)
        }
    }

    private func fault(_ end: End) -> FaultyTransport<TestStore>.Fault? {
        switch end {
        case .rejected: .answer(.answer(400, #"{"error":"no"}"#))
        case .requestLost: .loseRequest
        case .answerLost: .loseAnswer
        case .noBody: .change { $0.editing { _ in "" } }
        case .success: nil
        }
    }

    private func expectAgreement(_ flight: Flight, _ id: String, _ world: World, _ client: Client) throws {
        let local = try client.row(id)
        let server = try world.serverRow(id).flatMap { $0["deleted"]?.bool == true ? nil : $0 }
        let written: (text: Value, priority: Value) = flight.sent == .insert ? ("new", 7) : ("two", 1)
        let expected: (text: Value, priority: Value)? =
            switch flight.edit {
            case .update: ("edited", written.priority)
            case .otherColumn: (written.text, 5)
            case .clear: (.null, .null)
            case .backToBase: ("one", written.priority)
            case .delete, .insertAndDelete: nil
            case .deleteAndInsert: ("again", .null)
            }
        for (side, row) in [("local", local), ("server", server)] {
            #expect(row?["text"] ?? .null == expected?.text ?? .null, "\(side)")
            #expect(row?["priority"] ?? .null == expected?.priority ?? .null, "\(side)")
            #expect((row == nil) == (expected == nil), "\(side)")
        }
        #expect(local?.version == server?.version)
    }

    @Test(
        "Q2 the answer gives a row with a pending edit the server's version and columns, and the edit stays",
        arguments: StoreKind.perEngine)
    func answerUnderEdit(_ stores: StoreKind) async throws {
        try await Script(
            "Q2", #"update a=two; meanwhile update a=three; once replace "priority":1 "priority":9; push"#,
            "local [a=three] queue [update a] server [a=two]; row a priority=9; same a; remember a; bases [?]",
            "push; local [a=three] queue [] server [a=three]"
        ).play(stores)
    }

    @Test(
        "Q2 the next push coalesces an operation in flight and a later one if their process has died",
        arguments: StoreKind.perEngine, OperationKind.allCases)
    func leftBehind(_ stores: StoreKind, _ sent: OperationKind) async throws {
        let (world, client) = try await World.withFailingClient(stores)
        let (store, items) = (client.store, client.items)
        let id = try await items.edit(sent)
        client.onFirst(isEarly: true) {
            if sent == .delete {
                try await items.insert(["id": "a", "text": "again"])
            } else {
                try await items.delete(id: id)
            }
            store.fail(at: 1, staysDown: true)
        }
        #expect(await syncErrorCode { try await client.context.push() } == .store)
        store.heal()
        let heir = try await world.makeClient(over: store)
        #expect(try await heir.context.pendingOperationsCount == 2)
        try await heir.context.push()
        let end =
            switch sent {
            case .insert: "local [a=one] queue [] server [a=one, b deleted]"
            case .update: "local [] queue [] server [a deleted]"
            case .delete: "local [a=again] queue [] server [a=again]"
            }
        #expect(try world.state(store.base) == end)
    }
}

/// A store that shares its files with other processes and does not count their commits.
private final class UncountedStore: StoreLayer {
    typealias Reader = AnyStore.Reader

    let base: TestStore

    init(base: TestStore) { self.base = base }

    var externalCommits: ExternalCommits? { nil }

    func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        try base.redefine { try body(Writer(base: $0)) }
    }
    func write<T>(_ body: (Writer) throws -> T) throws -> T { try base.write { try body(Writer(base: $0)) } }

    struct Writer: WriterLayer {
        let base: AnyStore.Writer

        func externalCommitNumber() throws -> UInt64? { nil }
    }
}
