import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline
@testable import TidelineSimulation

/// Purges, migrations, and resolutions by one process, while another process has operations in flight.
extension PushLeaseTests {
    /// A call that is refused while an operation of the table is in flight.
    enum Refused: String, CaseIterable, Sendable {
        case forcePurge, rewrite, discard, cancelWithItem, keep, modify, discardWaiting

        func perform(by client: Client) async throws {
            let context = client.context
            func error() async throws -> TableOperationError { try #require(try await context.operationErrors().first) }
            switch self {
            case .forcePurge: try await client.items.forcePurge()
            case .rewrite:
                try await client.client.transaction { _ = try $0.rewrite("TodoItem") { $0["effort"] = 1.5 } }
            case .discard: try await error().cancelOperationAndDiscardItem()
            case .cancelWithItem: try await error().cancelOperationAndUpdateItem(["id": "b", "text": "kept"])
            case .keep: try await error().keepOperationAndUpdateItem(["id": "b", "text": "kept"])
            case .modify: try await error().modifyOperationType(.delete)
            case .discardWaiting:
                try await context.cancelOperationAndDiscardItem(
                    try #require(try await context.pendingOperations().first))
            }
        }
    }

    @Test(
        "U1 C2 while another process has an operation in flight, purges and resolutions refuse and change nothing",
        arguments: StoreKind.sharing, Refused.allCases)
    func refusedInFlight(_ stores: StoreKind, _ call: Refused) async throws {
        try Device.run(stores) { device, first, second in
            try await Self.insert(["b"], first)
            first.transport.inspect { _, _ in .answer(.answer(403)) }
            #expect(await syncErrorCode { try await first.context.push() } == .completedWithErrors)
            device.delay(first, .answer, by: 5)
            let push = try await device.startPush(first)
            let before = try device.world.world.state(first)
            let error = await #expect(throws: SyncError.self) { try await call.perform(by: second) }
            #expect(error?.code == .operationInFlight && error?.table == "TodoItem")
            #expect(error?.message.contains("another process") == true, "\(String(describing: error))")
            #expect(try device.world.world.state(first) == before)
            #expect(try await push.value.progress.sent == 1)
            #expect(try device.world.world.state(first) == "local [b=new] queue [] server [b=new]")
            // The push is over, and there is nothing left to resolve.
            if call == .forcePurge { try await call.perform(by: second) }
        }
    }

    @Test("U1 a purge is refused while another process restores a row", arguments: StoreKind.sharing)
    func refusedInRestore(_ stores: StoreKind) async throws {
        try Device.run(stores) { device, first, second in
            try await first.pushInsert(["id": "b", "text": "old"])
            try await first.items.delete(id: "b")
            device.delay(first, .answer, by: 5)
            let deletion = try await device.startPush(first)
            try await Self.insert(["b"], first)
            _ = try await deletion.value
            first.transport.inspect { request, _ in
                guard request.createsRow else { return nil }
                return .delay { try await device.world.sleep(.seconds(5)) }
            }
            let push = try await device.startPush(first)
            try await device.world.sleep(.seconds(1))
            #expect(await syncErrorCode { try await second.items.forcePurge() } == .operationInFlight)
            _ = try await push.value
            #expect(try device.world.world.state(first) == "local [b=new] queue [] server [b=new]")
        }
    }

    /// A call that waits while an operation of the table is in flight.
    enum Waiting: String, CaseIterable, Sendable {
        case drop, migrate

        func perform(by client: Client) async throws {
            switch self {
            case .drop: try await client.client.drop(columns: ["effort"], from: "TodoItem")
            case .migrate:
                try await client.client.migrate("step") { _ = try $0.rewrite("TodoItem") { $0["effort"] = 1.5 } }
            }
        }
    }

    @Test(
        "U1 a migration step and a drop wait for the push of another process, unless they are cancelled",
        arguments: StoreKind.sharing, Waiting.allCases)
    func waitingInFlight(_ stores: StoreKind, _ call: Waiting) async throws {
        try Device.run(stores) { device, first, second in
            try await Self.insert(["b"], first)
            device.delay(first, .answer, by: 5)
            let push = try await device.startPush(first)
            let before = try second.row("b")
            let cancelled = device.start { await syncErrorCode { try await call.perform(by: second) } }
            try await device.world.sleep(.seconds(1))
            cancelled.cancel()
            #expect(try await cancelled.value == .cancelled)
            #expect(try second.row("b") == before)
            #expect(try device.hasLease(first) && device.world.executor.now < .seconds(5))
            try await call.perform(by: second)
            #expect(device.world.executor.now >= .seconds(5))
            let effort: Value? = call == .drop ? nil : Value.double(1.5)
            #expect(try second.row("b")?["effort"] == effort)
            #expect(try await push.value.progress.sent == 1)
            #expect(try !device.hasLease(first))
        }
    }

    @Test("C2 an operation that failed is resolved while another process pushes others", arguments: StoreKind.sharing)
    func resolvedBesidePush(_ stores: StoreKind) async throws {
        try Device.run(stores) { device, first, second in
            try await Self.insert(["b", "c"], first)
            first.transport.inspect { request, body in
                if body.contains(#""b""#) { return .answer(.answer(403)) }
                return .delay { try await device.world.sleep(.seconds(5)) }
            }
            let push = try await device.startPush(first)
            try await second.context.operationErrors().first?.cancelOperationAndDiscardItem()
            #expect(try device.world.world.state(first) == "local [c=new] queue [insert c] server [c=new]")
            // The push reports the error that was resolved elsewhere.
            #expect(await syncErrorCode { _ = try await push.value } == .completedWithErrors)
            #expect(try device.world.world.state(first) == "local [c=new] queue [] server [c=new]")
        }
    }

    @Test(
        "U1 a purge removes operations that another process has not sent, and they are not sent",
        arguments: StoreKind.sharing, [false, true])
    func purgedBeforeRequest(_ stores: StoreKind, ofOtherTable: Bool) async throws {
        try Device.run(stores) { device, first, second in
            let notes = TableSchema("Note", columns: [.string("text")])
            for client in [first, second] { try await client.client.define([notes]) }
            // A delegate decides when the request is sent; until then there is none.
            first.context.delegate = ScriptedDelegate { operation in
                try await device.world.sleep(.seconds(5))
                return try await operation.execute()
            }
            try await Self.insert(["b"], first)
            try await first.client.table("Note").insert(["id": "n", "text": "note"])
            let push = try await device.startPush(first)
            if ofOtherTable { first.context.delegate = nil }
            let result = try await second.client.table(ofOtherTable ? "Note" : "TodoItem").forcePurge()
            #expect(result == ForcePurgeResult(rows: 1, operations: 1))
            _ = await syncErrorCode { _ = try await push.value }
            #expect(first.transport.requests.allSatisfy { $0.contains("Note") != ofOtherTable })
            #expect(try await first.items.rows().rows.count == (ofOtherTable ? 1 : 0))
        }
    }

    @Test("U1 operations of a killed process block nothing once its lease has expired", arguments: StoreKind.sharing)
    func purgedAfterKill(_ stores: StoreKind) async throws {
        try Device.run(stores) { device, client, _ in
            try await Self.insert(["b"], client)
            await client.pushLosing(.loseRequest)
            try device.plantLease(client)
            #expect(await syncErrorCode { try await client.items.forcePurge() } == .operationInFlight)
            try await device.world.sleep(.seconds(16))
            #expect(try await client.items.forcePurge() == ForcePurgeResult(rows: 1, operations: 1))
        }
    }

    @Test(
        "U1 a migration step waits until the push of a killed process must have ended, whatever the clock shows",
        arguments: StoreKind.sharing, [ClockChange.none, .setBackALittle])
    func migratedAfterKill(_ stores: StoreKind, _ change: ClockChange) async throws {
        try Device.run(stores) { device, client, _ in
            try await Self.insert(["b"], client)
            await client.pushLosing(.loseRequest)
            try device.plantLease(client)
            if change == .setBackALittle { device.world.offset.value = .seconds(-10) }
            let start = device.world.executor.now
            let isRun = try await client.client.migrate("step") { step in
                _ = try step.rewrite("TodoItem") { $0["effort"] = 1.5 }
            }
            #expect(isRun)
            #expect(device.world.executor.now - start >= .seconds(14))
            #expect(device.world.executor.now - start < .seconds(16))
            #expect(try client.row("b")?["effort"] == 1.5)
            #expect(try !device.hasLease(client))
            try await client.context.push()
            #expect(try device.world.world.state(client) == "local [b=new] queue [] server [b=new]")
        }
    }
}
