#if Serve
internal import Foundation
internal import TidelineStore

/// The steps of the demo: offline work, a kill, a sync, and a conflict resolved both ways. Each step checks its
/// promises.
struct DemoStory {
    let stage: DemoStage
    let first: DemoClient
    let second: DemoClient

    private static let texts = ["Buy milk", "Water the plants", "Call Anna"]
    /// An address on which no server listens.
    private static let nowhere = "http://127.0.0.1:1"

    init(stage: DemoStage) {
        self.stage = stage
        first = stage.client("first")
        second = stage.client("second")
    }

    func tell() async throws {
        try workOffline()
        try await survive()
        try await sync()
        try meetConflict()
        try settleByServer()
        try settleByKeeping()
        try await rest()
        try await DemoLiveStory(stage: stage).tell()
        if stage.engine.keepsRows { try await DemoPortalStory(stage: stage, first: first, second: second).tell() }
    }

    // MARK: 1

    private func workOffline() throws {
        stage.title("1. A client works offline: no server listens at its address")
        try stage.startServer()
        for text in Self.texts { try first.run("add", text) }
        let failure = try first.run("sync", "--url", Self.nowhere, status: 1)
        stage.quote(failure.err)
        try stage.check(
            "sync fails and reports that the server cannot be reached", failure.err.contains("cannot reach"),
            found: failure.err)
        try checkFirst(items: 3, pending: 3)
    }

    private func checkFirst(items: Int, pending: Int) throws {
        let report = try first.report()
        try stage.check("\(items) items are in the list", report.items == items, found: "\(report.items)")
        try stage.check(
            "\(pending) changes are in the queue", report.pending.count == pending, found: "\(report.pending.count)")
    }

    // MARK: 2

    private func survive() async throws {
        stage.title("2. The client is killed right after an add was acknowledged")
        let (acknowledgement, status) = try first.addAndDie("Post the letter")
        stage.quote(acknowledgement)
        try stage.check(
            "the add was acknowledged",
            acknowledgement.hasPrefix("added ") && acknowledgement.hasSuffix("Post the letter"),
            found: acknowledgement)
        try stage.check("the process was killed (SIGKILL)", status == 128 + SIGKILL, found: "status \(status)")
        try stage.engine.keepsRows ? findAgain() : beginAnew()
        try checkFirst(items: 4, pending: 4)
        let rows = try await stage.serverRows()
        try stage.check("the server does not have these changes", rows.isEmpty, found: "\(rows.count) rows")
    }

    private func findAgain() throws {
        let items = try first.items()
        try stage.check(
            "after a restart, the item is there", items.contains { $0.text == "Post the letter" }, found: "\(items)")
    }

    /// Checks that a memory store is empty after a restart, as it declares, and adds the items again.
    private func beginAnew() throws {
        let items = try first.items()
        try stage.check("after a restart, the memory store is empty", items.isEmpty, found: "\(items)")
        for text in Self.texts + ["Post the letter"] { try first.run("add", text) }
    }

    // MARK: 3

    private func sync() async throws {
        stage.title("3. The client syncs with the address of the server")
        let report = try first.sync()
        try stage.check("4 changes were pushed", report.pushed == 4, found: "\(report.pushed)")
        try checkFirst(items: 4, pending: 0)
        let rows = try await stage.serverRows()
        try stage.check("the server has the 4 items", rows.count == 4, found: "\(rows.count)")
        let items = try first.items()
        try stage.check(
            "the local rows have version, createdAt and updatedAt",
            items.allSatisfy { $0.version != nil && $0.createdAt != nil && $0.updatedAt != nil }, found: "\(items)")
    }

    // MARK: 4

    private func meetConflict() throws {
        stage.title("4. A second client changes items of the first")
        let report = try second.sync()
        try stage.check("it pulls the 4 items", report.stored == 4, found: "\(report.stored ?? 0)")
        try change(second, "Buy milk", to: "Buy oat milk")
        try second.run("rm", second.id(of: "Call Anna"))
        _ = try second.sync()
        try change(first, "Buy milk", to: "Buy a liter of milk")
        try expectConflict(mine: "Buy a liter of milk", theirs: "Buy oat milk")
    }

    private func settleByServer() throws {
        stage.title("   The conflict is resolved with the server's row")
        try first.run("resolve", "--server")
        let texts = try first.items().map(\.text)
        try stage.check("the first client has the server's row", texts.contains("Buy oat milk"), found: "\(texts)")
        _ = try first.sync()
        try stage.check("nothing is left to push", try first.report().pending.isEmpty)
    }

    private func settleByKeeping() throws {
        stage.title("   A second conflict is resolved with the client's row")
        _ = try second.sync()
        try change(second, "Buy oat milk", to: "Buy rice milk")
        _ = try second.sync()
        try change(first, "Buy oat milk", to: "Buy two liters of milk")
        try expectConflict(mine: "Buy two liters of milk", theirs: "Buy rice milk")
        try first.run("resolve", "--mine")
        _ = try first.sync()
        try stage.check("nothing is left to push", try first.report().pending.isEmpty)
    }

    private func change(_ client: DemoClient, _ text: String, to newText: String) throws {
        try client.run("edit", client.id(of: text), newText)
    }

    private func expectConflict(mine: String, theirs: String) throws {
        let failure = try first.run("sync", "--url", stage.url, status: 1)
        stage.quote(failure.err)
        try stage.check(
            "the first client's sync reports a conflict and prints both versions",
            failure.err.contains(mine) && failure.err.contains(theirs), found: failure.err)
    }

    // MARK: 5

    private func rest() async throws {
        stage.title("5. Both clients pull until nothing is left to do")
        _ = try second.sync()
        let rows = try await stage.serverRows()
        for (name, client) in [("first", first), ("second", second)] {
            let items = try client.items().sorted { $0.id < $1.id }
            try stage.check(
                "the \(name) client equals the server: \(items.compactMap(\.text).sorted().joined(separator: ", "))",
                items == rows, found: "\(items) and \(rows)")
        }
        try stage.check("the server has the client's row", rows.contains { $0.text == "Buy two liters of milk" })
        try stage.check("the deleted item is gone", !rows.contains { $0.text == "Call Anna" })
        for client in [first, second] {
            var report = try client.sync()
            // A row that came within the look-back is fetched again, and noted once, when it is older.
            for _ in 0...rows.count where report.writes != 0 { report = try client.sync() }
            try stage.check(
                "a further pull sends one request and writes nothing", report.requests == 1 && report.writes == 0,
                found: "\(report.requests) requests, \(report.writes ?? 0) writes")
        }
    }
}
#endif
