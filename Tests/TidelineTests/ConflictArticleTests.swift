import Foundation
import Testing
import Tideline
import TidelineTestStores

// The code of the article "Conflicts", compiled verbatim.

// article: options
func makeOptions() -> SyncOptions {
    var options = SyncOptions()
    options.conflictPolicy = .merge()
    options.conflictPolicies["Note"] = .merge(["text": .text, "tags": .union, "likes": .sum])
    options.conflictPolicies["Setting"] = .lastWriterWins(by: "editedAt")
    options.conflictPolicies["Catalog"] = .serverWins
    options.conflictPolicies["Payment"] = .manual
    return options
}
// end

// article: closure
let shorterStay = ConflictPolicy.custom("shorterStay") { conflict in
    guard let local = conflict.local, let server = conflict.server else { return .delete }
    guard let mine = local["nights"]?.int, let theirs = server["nights"]?.int else { return .manual }
    return .row(mine < theirs ? local : server)
}
// end

// article: decisions
func undoLatestMerge(of id: String, in client: SyncClient<some LocalStore>) async throws {
    guard let decision = try await client.decisions(table: "Note", id: id).first else { return }
    print("\(decision.rule) at \(decision.time): \(decision.result?.description ?? "deleted")")
    try await client.restore(.local, of: decision)
}
// end

// article: manual
func keepMine(_ client: SyncClient<some LocalStore>) async throws {
    for error in try await client.operationErrors() where error.code == .conflict {
        if let item = error.item, !error.isRowGone {
            try await error.keepOperationAndUpdateItem(item)
        } else {
            try await error.cancelOperationAndDiscardItem()
        }
    }
}
// end

/// Expects that an article contains the given number of parts of files, each between `// article: NAME` and `// end`.
func expectArticle(_ name: String, contains count: Int, of files: [String]) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
    let article = try text("Sources/Tideline/Tideline.docc/\(name).md")
    let parts = try files.flatMap { try text($0).components(separatedBy: "\n// article: ").dropFirst() }
    #expect(parts.count == count)
    for part in parts {
        let lines = part.components(separatedBy: "\n").dropFirst()
        let code = lines.prefix { $0 != "// end" }.joined(separator: "\n").trimmingCharacters(in: .newlines)
        #expect(article.contains("```swift\n\(code)\n```"), "the article must contain:\n\(code)")
    }
}

@Suite("The article on conflicts", .releasesClients)
struct ConflictArticleTests {
    @Test("The article contains the code of this file")
    func isShown() throws {
        try expectArticle("Conflicts", contains: 4, of: ["Tests/TidelineTests/ConflictArticleTests.swift"])
    }

    @Test("The article's policies fit the tables of its app, and its manual resolution works")
    func works() async throws {
        let (world, client) = try await World.withClient(StoreKind.perEngine[3]) { options in
            let article = makeOptions()
            options.conflictPolicies = article.conflictPolicies
            options.conflictPolicies["Stay"] = shorterStay
        }
        try await client.client.define([
            TableSchema("Note", columns: [.string("text"), .json("tags"), .int("likes")]),
            TableSchema("Setting", columns: [.string("value"), .timestamp("editedAt")]),
            TableSchema("Catalog", columns: [.string("name")]), TableSchema("Payment", columns: [.int("amount")]),
            TableSchema("Stay", columns: [.int("nights")]),
        ])
        try await client.context.push()

        let first = try await world.makeSyncedClient()
        try await client.items.pull()
        try await first.pushUpdate(["id": "a", "text": "theirs"])
        try await client.items.update(["id": "a", "text": "mine"])
        #expect(try await pushErrors(client).count == 1)
        try await keepMine(client.client)
        try await client.context.push()
        #expect(try world.serverRow("a")?["text"] == "mine")
    }

    @Test("A merge by the article's policies is undone by its function, and its closure keeps the shorter stay")
    func decides() async throws {
        let tables = [
            TableSchema("Note", columns: [.string("text"), .json("tags"), .int("likes")]),
            TableSchema("Stay", columns: [.int("nights")]),
        ]
        let world = try World(.simplest) { $0.schemas += tables }
        let other = try await world.makeClient()
        let client = try await world.makeClient { options in
            options.conflictPolicies["Note"] = makeOptions().conflictPolicies["Note"]
            options.conflictPolicies["Stay"] = shorterStay
        }
        for each in [client, other] { try await each.client.define(tables) }
        let (notes, stays) = (client.client.table("Note"), client.client.table("Stay"))
        try await notes.insert(["id": "n", "text": "one", "likes": 1])
        try await stays.insert(["id": "s", "nights": 4])
        try await client.context.push()
        try await other.client.table("Note").pull()
        try await other.client.table("Stay").pull()
        try await other.client.table("Note").update(["id": "n", "text": "theirs"])
        try await other.client.table("Stay").update(["id": "s", "nights": 2])
        try await other.context.push()
        try await notes.update(["id": "n", "likes": 5])
        try await stays.update(["id": "s", "nights": 7])
        try await client.context.push()
        #expect(try await stays.rows().rows.map { $0["nights"] } == [2])
        let merged = try #require(try await notes.rows().rows.first)
        #expect(merged["text"] == "theirs" && merged["likes"] == 5)
        try await undoLatestMerge(of: "n", in: client.client)
        let undone = try #require(try await notes.rows().rows.first)
        #expect(undone["text"] == "one" && undone["likes"] == 5)
    }
}
