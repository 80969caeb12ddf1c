#if PostgreSQL
internal import Foundation

/// The demo over PostgreSQL: the steps of ``DemoStory`` with a server over a database, and then a second server over
/// the same database, which is killed.
struct DemoDatabaseStory {
    let stage: DemoStage
    let database: DatabaseServer
    private let first: DemoClient
    private let second: DemoClient

    init(stage: DemoStage, database: DatabaseServer) {
        self.stage = stage
        self.database = database
        first = stage.client("fifth")
        second = stage.client("sixth")
    }

    func tell() async throws {
        try await DemoStory(stage: stage).tell()
        try shareTheDatabase()
        try await loseTheDatabase()
    }

    private func shareTheDatabase() throws {
        stage.title("11. A second server shares the database, and each of two more clients uses another server")
        second.url = try stage.startAnotherServer()
        try first.run("add", "Fix the roof")
        _ = try first.sync()
        _ = try second.sync()
        let texts = try second.items().map(\.text)
        try stage.check(
            "a row that one server stored comes from the other", texts.contains("Fix the roof"), found: "\(texts)")
    }

    private func loseTheDatabase() async throws {
        stage.title("12. PostgreSQL is killed (kill -9), and comes back")
        try database.kill()
        try second.run("add", "Paint the door")
        let failure = try second.run("sync", "--url", second.url ?? stage.url, status: 1)
        stage.quote(failure.err)
        let pending = try second.report().pending.count
        try stage.check("sync fails, and the change stays in the queue", pending == 1, found: "\(pending)")
        try database.restart()
        let report = try second.sync()
        try stage.check(
            "the servers are connected again by themselves, and the change is pushed", report.pushed == 1,
            found: "\(report.pushed)")
        _ = try first.sync()
        let rows = try await stage.serverRows()
        try stage.check(
            "nothing is lost: \(rows.compactMap(\.text).sorted().joined(separator: ", "))",
            rows.contains { $0.text == "Fix the roof" } && rows.contains { $0.text == "Paint the door" })
        for (name, client) in [("first", first), ("second", second)] {
            let items = try client.items().sorted { $0.id < $1.id }
            try stage.check("the \(name) client equals the server", items == rows, found: "\(items)")
        }
    }
}
#endif
