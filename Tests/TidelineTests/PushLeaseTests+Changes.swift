import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline
@testable import TidelineSimulation

/// Changes by one process, and a sync that runs itself, while another process pushes.
extension PushLeaseTests {
    // MARK: Edits of the other process

    struct Line: Sendable, CustomTestStringConvertible {
        var sent: OperationKind
        var change: OperationKind
        var refusal: SyncError.Code?
        var isStrict = false
        /// The world when everything has been pushed.
        var end: String
        var testDescription: String { "\(sent) in flight, \(change)\(isStrict ? ", strict" : "")" }
    }

    /// The lines of the coalescing table for an operation in flight.
    static let lines: [Line] = [
        Line(sent: .insert, change: .insert, refusal: .rowExists, end: "local [b=new] queue [] server [b=new]"),
        Line(sent: .insert, change: .update, end: "local [b=changed] queue [] server [b=changed]"),
        Line(sent: .insert, change: .delete, end: "local [] queue [] server [b deleted]"),
        Line(sent: .update, change: .insert, refusal: .rowExists, end: "local [a=two] queue [] server [a=two]"),
        Line(sent: .update, change: .update, end: "local [a=changed] queue [] server [a=changed]"),
        Line(sent: .update, change: .delete, end: "local [] queue [] server [a deleted]"),
        Line(sent: .delete, change: .insert, end: "local [a=changed] queue [] server [a=changed]"),
        Line(
            sent: .delete, change: .insert, refusal: .noSuchRow, isStrict: true,
            end: "local [] queue [] server [a deleted]"),
        Line(sent: .delete, change: .update, refusal: .noSuchRow, end: "local [] queue [] server [a deleted]"),
        Line(sent: .delete, change: .delete, end: "local [] queue [] server [a deleted]"),
    ]

    @Test(
        "P9 Q2 a change by one process while another has the row's operation in flight is neither lost nor a conflict",
        arguments: StoreKind.sharing, lines.flatMap { line in Suspension.allCases.map { (line, $0) } })
    func collapse(_ stores: StoreKind, _ way: (line: Line, point: Suspension)) async throws {
        let (line, point) = way
        let device = try Device(stores)
        try device.world.run {
            let first = try await device.makeProcess(device.delays(point, by: 4))
            let second = try await device.makeProcess { $0.rejectsInsertOverPendingDelete = line.isStrict }
            let id = try await Self.prepare(line.sent, first)
            try await device.world.sleep(.seconds(1))
            device.delay(first, point, by: 4)
            let push = device.start { try await first.context.push() }
            try await device.world.sleep(.seconds(2))
            let row: Row = ["id": .string(id), "text": "changed"]
            let code = await syncErrorCode {
                switch line.change {
                case .insert: try await second.items.insert(row)
                case .update: try await second.items.update(row)
                case .delete: try await second.items.delete(id: id)
                }
            }
            #expect(code == line.refusal)
            _ = try await push.value
            try await second.context.push()
            #expect(try device.world.world.state(first) == line.end)
            #expect(try await first.context.operationErrors().isEmpty)
        }
    }

    // MARK: The sync that runs itself

    @Test("P9 a sync that runs itself waits for the push of another process, and goes on", arguments: StoreKind.sharing)
    func engine(_ stores: StoreKind) async throws {
        try Device.run(stores) { device, first, second in
            let statuses = device.world.record(second)
            try await Self.insert(["a"], first)
            device.delay(first, .answer, by: 20)
            let push = try await device.startPush(first)
            var settings = SyncSettings()
            settings.pull.push = Self.fails
            try await second.client.start([SyncSubscription("TodoItem")], settings: settings)
            try await Self.insert(["b"], second)
            try await device.world.sleep(.seconds(40))
            #expect(try await push.value.progress.sent == 1)
            #expect(try device.world.world.state(second) == "local [a=new, b=new] queue [] server [a=new, b=new]")
            #expect(statuses.kinds.allSatisfy { $0 != "failing" }, "\(statuses.kinds)")
            await second.client.stop()
        }
    }

    @Test("P9 a sync whose push another process has taken over goes on", arguments: StoreKind.sharing)
    func engineAfterSuspension(_ stores: StoreKind) async throws {
        let device = try Device(stores)
        try device.world.run {
            let isSuspended = SharedValue(true)
            let first = try await device.makeProcess { [world = device.world] options in
                // The timers of the process stand still while it is suspended.
                options.environment.sleep = { duration in
                    try await world.sleep(duration)
                    while isSuspended.value, world.executor.now > .seconds(2) { try await world.sleep(.seconds(1)) }
                }
            }
            let second = try await device.makeProcess()
            let statuses = device.world.record(first)
            try await Self.insert(["a"], first)
            first.onFirst(\.createsRow) { try await device.world.sleep(.seconds(60)) }
            try await first.client.start([SyncSubscription("TodoItem", interval: nil)])
            try await device.world.sleep(.seconds(3))
            try await second.context.push()
            #expect(device.world.executor.now < .seconds(60))
            try await Self.insert(["b"], first)
            isSuspended.value = false
            try await device.world.sleep(.seconds(120))
            #expect(try device.world.world.state(first) == "local [a=new, b=new] queue [] server [a=new, b=new]")
            #expect(statuses.kinds.last == "idle" && !statuses.kinds.contains("failing"), "\(statuses.kinds)")
            await first.client.stop()
        }
    }
}
