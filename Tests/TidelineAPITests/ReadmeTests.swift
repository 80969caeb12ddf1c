#if AsyncHTTPClient && Macros
import Foundation
import Testing
import TidelineAsyncHTTPClient  // this line differs on Apple's systems: import TidelineURLSession
import TidelineConformance
import TidelineLMDB
import TidelineLevelDB
import TidelineMacros
import TidelineMemory
import TidelinePostgreSQL
import TidelineSQLite  // the product of the store

// The code of the README, compiled verbatim. The record is nested because another file of this target has a type of the
// same name.

private enum App {
    @Table("TodoItem") struct Todo: Identifiable, Sendable {
        var id: ID<Todo> = .new
        var text: String
        var complete = false
    }
}

private typealias Todo = App.Todo

private func app() async throws {
    let store = try SQLiteStore(path: "todo.db")  // this line differs between stores: LMDBStore(path: "todo.lmdb")
    let client = try SyncClient(url: "http://127.0.0.1:8080", store: store)
    try await client.define(Todo.self)
    let todos = client.table(Todo.self)
    try await client.start([SyncSubscription(Todo.all, queryID: "all")])  // pushes and pulls while the client is kept
    try await todos.insert(Todo(text: "Buy milk"))  // never waits for the network
    for try await update in todos.observe(Todo.where { !$0.complete }) { print(update.rows.map(\.text)) }
}

/// The stores of the README's table.
private func stores() throws -> [any LocalStore] {
    [
        try SQLiteStore(path: "todo.db"),
        try LMDBStore(path: "todo.lmdb"),
        try LevelDBStore(path: "todo.leveldb"),
        try MemoryStore(),
        try PostgreSQLStore(connection: "dbname=todo"),
    ]
}

/// Stands for a custom store.
private typealias MyStore = MemoryStore

extension MyStore {
    fileprivate convenience init(directory: String) throws { try self.init() }
}

let suite = ConformanceSuite { directory in try MyStore(directory: directory) }

@Suite("README: a custom store", .disabled("The tests of the conformance suite run the checks, with fewer rows."))
struct CustomStoreTests {
    @Test(arguments: suite.checks) func conforms(_ check: Check) async throws { try await suite.verify(check) }
}

@Suite("README")
struct ReadmeTests {
    @Test("Its Swift code is compiled here: an app of at most 15 lines, and three lines that test a store")
    func code() throws {
        let blocks = try swiftBlocks(in: "README.md")
        #expect(blocks.count == 2)
        #expect(blocks.first.map { $0.count <= 15 } == true)
        try expectCompiled(blocks, in: "ReadmeTests")
    }

    @Test("The stores of its table are created here")
    func table() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let calls = try packageText("README.md").matches(of: /`(\w+Store\([^`]*\))`/).map { String($0.1) }
        #expect(calls.count == 5)
        for call in calls { #expect(source.contains("try \(call)"), "not compiled: \(call)") }
    }

    @Test("It has at most 150 lines, and none is longer than 120 characters")
    func length() throws {
        let lines = try packageText("README.md").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 151)  // The last line ends with a line feed.
        #expect(lines.filter { $0.count > 120 } == [])
    }

    @Test("The traits and the commands that it names exist")
    func names() throws {
        let readme = try packageText("README.md")
        let (manifest, makefile) = (try packageText("Package.swift"), try packageText("Makefile"))
        let list = readme.firstMatch(of: /traits: \[([^\]]*)\]/)
        let traits = try #require(list).1.matches(of: /"(\w+)"/)
        #expect(traits.count == 2)
        for trait in traits { #expect(manifest.contains(".trait(name: \"\(trait.1)\"")) }
        let targets = readme.matches(of: /(?m)^make (\w+)/)
        #expect(targets.count == 3)
        for target in targets { #expect(makefile.contains("\n\(target.1):")) }
    }
}
#endif
