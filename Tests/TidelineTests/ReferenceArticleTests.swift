import Foundation
import Synchronization
import Testing
import Tideline
import TidelineTestStores

// The code of the article "References", compiled verbatim.

// article: tables
func makeTables() -> [TableSchema] {
    let tasks = TableSchema(
        "Task", columns: [.string("title"), .string("projectId")],
        references: [ForeignKey(column: "projectId", table: "Project")])
    let projects = TableSchema(
        "Project", columns: [.string("name"), .string("partOf")],
        references: [ForeignKey(column: "partOf", table: "Project")])
    return [tasks, projects]
}
// end

// article: result
func reportWaiting(after push: PushResult) {
    guard push.progress.heldBack > 0 else { return }
    let failed = push.operationErrors.map { "\($0.kind) of \($0.itemID) in \($0.table)" }
    print("\(push.progress.heldBack) changes wait for: \(failed.joined(separator: ", "))")
}
// end

@Suite("The article on references", .releasesClients)
struct ReferenceArticleTests {
    @Test("The article contains the code of this file")
    func isShown() throws {
        try expectArticle("References", contains: 2, of: ["Tests/TidelineTests/ReferenceArticleTests.swift"])
    }

    @Test("The article's tables are pushed in the order that it describes")
    func works() async throws {
        let client = try await World(.simplest) { $0.schemas = makeTables() }.makeClient()
        try await client.client.define(makeTables())
        try await client.client.table("Task").insert(["title": "Paint", "projectId": "kitchen"])
        try await client.client.table("Project").insert(["id": "kitchen", "name": "Kitchen", "partOf": "house"])
        let ended = Mutex<PushResult?>(nil)
        client.context.delegate = ScriptedDelegate(
            { try await $0.execute() },
            ended: { result in
                reportWaiting(after: result)
                ended.withLock { $0 = result }
            })
        client.transport.inspect { request, _ in
            request.path?.contains("/Project") == true ? .answer(.answer(403)) : nil
        }
        #expect(await syncErrorCode { try await client.context.push() } == .completedWithErrors)
        #expect(ended.withLock { $0?.progress.heldBack } == 1)
        client.transport.inspect(nil)
        client.transport.clear()
        #expect(try await client.context.push().progress.sent == 2)
        #expect(client.transport.requests.map { $0.contains("/Project") } == [true, false])
    }
}
