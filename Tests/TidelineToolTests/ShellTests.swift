#if Tool
import Foundation
import Testing

@testable import TidelineTool

@Suite("Shell of the to-do list")
struct ShellTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test(
        "A line is split into words as in a shell",
        arguments: [
            ("", []), ("  \t ", []), ("list", ["list"]), (" add  Buy\tmilk ", ["add", "Buy", "milk"]),
            ("add 'Buy  milk'", ["add", "Buy  milk"]), ("add \"it's\"", ["add", "it's"]),
            ("add 'a \"b\"'", ["add", "a \"b\""]), ("add a\\ b", ["add", "a b"]), ("rm ''", ["rm", ""]),
            ("a\"b c\"d", ["ab cd"]), ("'\\'", ["\\"]), ("\"\\\"\"", ["\""]), ("é 😀", ["é", "😀"]),
        ])
    func words(line: String, expected: [String]) throws {
        #expect(try CommandWords.split(line) == expected)
    }

    @Test(
        "A word for a shell is one word there, also with characters that shells interpret",
        arguments: ["sqlite:todo.db,durability=full", "", "my list.db", "it's", "$(id)", "a|b", "a;b", "\\"])
    func quotedWord(word: String) throws {
        #expect(try CommandWords.split(shellWord(word)) == [word])
        #expect(try ToolProcess.run("/bin/sh", "-c", "printf %s \(shellWord(word))").out == word)
    }

    @Test("An unclosed quote or escape is refused", arguments: ["add 'x", "add \"x", "add x\\", "\"\\"])
    func unclosed(line: String) {
        #expect(throws: ToolError.self) { try CommandWords.split(line) }
    }

    /// Starts a shell over an in-memory store.
    private func startShell() throws -> ToolProcess {
        try tool.start(["todo", "shell", "--json", "--store", "sqlite::memory:"])
    }

    private func reply(to line: String, of shell: ToolProcess) throws -> ShellReply {
        try shell.write(line: line)
        return try JSONDecoder().decode(ShellReply.self, from: Data(#require(shell.readLine()).utf8))
    }

    @Test("An in-memory store keeps its rows between lines, and a failed line changes nothing")
    func session() throws {
        let shell = try startShell()
        let lines = ["add 'Buy  milk'", "rm ''", "foo", "add --stdin", "list --store sqlite:x", "shell", "", "list"]
        let replies = try lines.map { try reply(to: $0, of: shell) }
        #expect(replies.map(\.status) == [0, 1, 64, 1, 1, 1, 0, 0])
        #expect(replies[0].out.hasPrefix("added ") && replies[0].out.hasSuffix(" Buy  milk\n"))
        #expect(replies[1].err.contains("the id is empty"))
        #expect(replies[3].err.contains("standard input"))
        #expect(replies[4].err.contains("--store"))
        #expect(replies[7].out.contains("Buy  milk") && replies[7].err.isEmpty)
    }

    @Test("A line that sync prints to resolve a conflict resolves it in the shell")
    func resolvingLine() async throws {
        let (_, url) = try tool.startServer()
        let shell = try startShell()
        func reply(_ line: String) throws -> ShellReply { try self.reply(to: line, of: shell) }
        _ = try await send(.post, "/tables/TodoItem", to: url, body: #"{"id":"one","text":"old"}"#)
        #expect(try reply("sync --url \(url)").status == 0)
        #expect(try reply("edit one mine").status == 0)
        _ = try await send(.patch, "/tables/TodoItem/one", to: url, body: #"{"text":"theirs"}"#)
        let lines = try reply("sync --url \(url)").err.split(separator: "\n")
        let line = try #require(lines.first { $0.hasSuffix(" --server -- one") }, "\(lines)")
        #expect(try reply(String(line)).out.contains("restored the server's one;"))
    }

    @Test("Help is a reply, not a failure")
    func help() throws {
        let shell = try startShell()
        let replies = try ["help add", "list --help"].map { try reply(to: $0, of: shell) }
        #expect(replies.allSatisfy { $0.status == 0 && $0.out.contains("USAGE") && $0.err.isEmpty })
    }

    @Test("Without --json the output is that of the commands; exit ends the shell, and later lines are not read")
    func plain() throws {
        let shell = try tool.startTodo("shell")
        for line in ["add Milk", "exit", "add Bread"] { try shell.write(line: line) }
        #expect(shell.readLine()?.hasSuffix("Milk") == true)
        #expect(shell.wait() == 0)
        let list = try tool.todo("list")
        #expect(list.out.contains("Milk") && !list.out.contains("Bread"))
    }
}
#endif
