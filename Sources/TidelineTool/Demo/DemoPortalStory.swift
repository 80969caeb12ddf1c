#if Serve
internal import Foundation

/// A step of the demo: two clients, each a process that syncs by itself, while a sign-in page answers in place of the
/// server.
struct DemoPortalStory {
    let stage: DemoStage
    let first: DemoClient
    let second: DemoClient

    func tell() async throws {
        stage.title("10. Behind a hotel portal: for a while, a sign-in page answers every request")
        for client in [first, second] { _ = try client.sync() }
        var expected = Self.contents(try await stage.serverRows())
        for (client, edits) in [(first, Self.firstEdits), (second, Self.secondEdits)] {
            try edit(client, edits, &expected)
        }
        try await signIn()
        let rows = try await stage.serverRows()
        try stage.check(
            "the server has all edits, and lost nothing else: \(expected.keys.sorted().joined(separator: ", "))",
            Self.contents(rows) == expected, found: "\(rows)")
        stage.title("   Each client is started again, and gets the edits of the other")
        let watches = try [first, second].map { try $0.watch() }
        defer { for watch in watches { watch.stop() } }
        for (name, client, watch) in [("first", first, watches[0]), ("second", second, watches[1])] {
            try stage.check("the \(name) client is in sync", try endOnceInSync(watch))
            let items = try client.items().sorted { $0.id < $1.id }
            try stage.check(
                "the \(name) client equals the server",
                Self.contents(items) == expected && items.map(\.version) == rows.map(\.version), found: "\(items)")
            try stage.check("its queue is empty", try client.report().pending.isEmpty)
        }
    }

    // MARK: Edits

    /// The texts of an item to add, of one to change with its new text, and of one to delete.
    private typealias Edits = (added: String, changed: String, newText: String, deleted: String)

    private static let firstEdits: Edits = ("Pack the suitcase", "Buy jam", "Buy plum jam", "Buy rice")
    private static let secondEdits: Edits =
        ("Book a table", "Water the plants", "Water all plants", "Post the letter")

    private func edit(_ client: DemoClient, _ edits: Edits, _ expected: inout [String: Bool]) throws {
        try client.run("add", edits.added)
        try client.run("edit", client.id(of: edits.changed), edits.newText)
        try client.run("rm", client.id(of: edits.deleted))
        expected[edits.added] = false
        expected[edits.newText] = expected.removeValue(forKey: edits.changed)
        expected[edits.deleted] = nil
    }

    private static func contents(_ items: [TodoItem]) -> [String: Bool] {
        Dictionary(items.map { ($0.text ?? "", $0.complete ?? false) }) { _, last in last }
    }

    // MARK: The page

    private func signIn() async throws {
        stage.stopServer()
        let portal = try await stage.openPortal()
        let watches = try [("first", first), ("second", second)].map { ($0.0, try $0.1.watch()) }
        defer { for (_, watch) in watches { watch.stop() } }
        for (name, watch) in watches {
            var line = watch.readLine() ?? ""
            while line.hasPrefix("sending") { line = watch.readLine() ?? "" }
            stage.quote(line)
            // A redirect has no page, but the message has its address.
            let isNamed = line.contains(HotelPortal.title) || line.contains(HotelPortal.address)
            try stage.check(
                "the \(name) client is offline, and names the page",
                line.hasPrefix("offline: ") && isNamed, found: line)
        }
        let count = 4 * HotelPortal.Answer.allCases.count
        try await stage.wait("the page has answered \(count) requests, with 200, 302, 404, 410, and 511") {
            portal.requests >= count
        }
        try await portal.end()
        stage.say("the page is gone")
        try stage.restartServer()
        for (name, watch) in watches {
            try stage.check("the \(name) client is in sync by itself", try endOnceInSync(watch))
        }
    }

    /// Shows the status of a client until it is in sync, and then ends it.
    ///
    /// - Returns: Whether it was in sync, and ended without an error.
    private func endOnceInSync(_ watch: ToolProcess) throws -> Bool {
        while let line = watch.readLine() {
            stage.quote(line)
            guard line == "in sync" else { continue }
            watch.signal(SIGINT)
            return watch.wait() == 0
        }
        return false
    }
}
#endif
