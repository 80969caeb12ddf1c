#if Tool
import Foundation
import Testing
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

/// Whether this process can mount a file system. Root in a container usually cannot.
private let canMount: Bool = {
    let isMounted = try? withTemporaryFolder { (folder: String) -> Bool in
        guard try ToolProcess.run("/bin/mount", "-t", "tmpfs", "tmpfs", folder).status == 0 else { return false }
        return try ToolProcess.run("/bin/umount", folder).status == 0
    }
    return isMounted == true
}()

/// The to-do list commands, run as a process: their output and exit status.
@Suite("tideline todo")
struct TodoCommandTests {
    let tool: Tool

    init() throws { tool = try Tool() }

    private func run(_ arguments: [String]) throws -> ToolProcess.Output {
        try tool.run(["todo"] + arguments + ["--store", "sqlite:\(tool.path("client.db"))"])
    }

    /// Returns the command in a line of an output.
    private func words(_ line: String) throws -> [String] { try Array(CommandWords.split(line).dropFirst()) }

    @Test("Two lists in different dialects are synced with the same server", arguments: ["zumo2", "datasync3"])
    func dialects(_ assumed: String) throws {
        let (_, url) = try tool.startServer("--dialect", assumed)
        func sync(_ dialect: String, _ store: String) throws -> ToolProcess.Output {
            try tool.todo("sync", "--url", url, "--dialect", dialect, store: store)
        }
        let id = try tool.add("Buy milk")
        #expect(try sync("datasync3", "client.db").status == 0)
        #expect(try sync("zumo2", "other.db").status == 0)
        #expect(try tool.todo("edit", id, "Buy", "bread", store: "other.db").status == 0)
        #expect(try tool.todo("done", id).status == 0)
        #expect(try sync("zumo2", "other.db").status == 0)
        // Both have changed the item since.
        let conflict = try sync("datasync3", "client.db").expect(1)
        // A line of the output is a command that can be pasted.
        let lines = conflict.err.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.contains { $0.hasPrefix("tideline ") && $0.contains(" --mine -- ") }, "\(conflict.err)")
        let line = try #require(lines.first { $0.hasPrefix("tideline ") && $0.contains(" --server -- ") })
        try tool.run(words(line)).expect(0)
        #expect(try tool.todo("done", id).status == 0)
        #expect(try sync("datasync3", "client.db").status == 0)
        #expect(try sync("zumo2", "other.db").status == 0)
        for store in ["client.db", "other.db"] { #expect(try tool.items(store: store).map(\.text) == ["Buy bread"]) }
    }

    @Test("A line that resolves a conflict names one item, if ids begin alike or with a hyphen, or are escaped")
    func resolvingLines() async throws {
        let (_, url) = try tool.startServer()
        let ids = ["item-0001", "item-00012", "-dash", "a\u{202E}b"]
        for id in ids {
            let row = #"{"id":"\#(id)","text":"old","complete":false}"#
            _ = try await send(.post, "/tables/TodoItem", to: url, body: row)
        }
        #expect(try tool.todo("sync", "--url", url).status == 0)
        for id in ids {
            #expect(try tool.todo("edit", "--", id, "mine").status == 0)
            let path = "/tables/TodoItem/" + id.replacing("\u{202E}", with: "%E2%80%AE")
            _ = try await send(.patch, path, to: url, body: #"{"text":"theirs"}"#)
        }
        let conflicts = try tool.todo("sync", "--url", url).err.split(separator: "\n").map(String.init)
        func resolve(_ id: String) throws -> ToolProcess.Output {
            let lines = conflicts.filter { $0.contains(" --server -- ") }
            let line = try #require(lines.first { try words($0).last == id }, "\(conflicts)")
            return try tool.run(words(line))
        }
        try resolve("item-0001").expect(0, "restored the server's item-0001;")
        try resolve("item-0001").expect(1, "has nothing to resolve")
        try resolve("-dash").expect(0, "restored the server's -dash;")
        try resolve(#"a\u{202E}b"#).expect(0, "restored the server's")
        #expect(try tool.report().errors.map(\.id) == ["item-00012"])
    }

    @Test("Items are added, listed, done, edited and removed, offline")
    func story() throws {
        let milk = try tool.add("Buy milk")
        let plants = try tool.add("Water the plants")
        #expect(try tool.todo("done", String(milk.prefix(8))).out.contains("[x] Buy milk"))
        #expect(try tool.todo("edit", plants, "Water", "all", "plants").status == 0)
        let open = try tool.todo("list").out
        #expect(open.contains("* [ ] Water all plants") && !open.contains("Buy milk"))
        #expect(try tool.todo("list", "--all").out.contains("* [x] Buy milk"))
        #expect(try tool.todo("done", "--undo", milk).out.contains("[ ] Buy milk"))
        #expect(try tool.todo("rm", milk).status == 0)
        #expect(try tool.items().map(\.text) == ["Water all plants"])
        #expect(try tool.todo("status").out.contains("1 item, 1 change to push"))
    }

    @Test("An ID that is unknown or matches several items is an error and changes nothing")
    func ids() throws {
        _ = try tool.add("one")
        for command in ["done", "rm"] {
            try tool.todo(command, "nothing-like-it").expect(1, #"there is no item "nothing-like-it""#)
        }
        #expect(try tool.items().count == 1)
        #expect(try tool.todo("resolve").err.contains("nothing to resolve"))
    }

    @Test("An empty ID, as from an unset variable in a script, never matches the only item; a blank text is refused")
    func emptyArguments() throws {
        let id = try tool.add("one")
        for arguments in [["done", ""], ["edit", "", "two"], ["rm", ""], ["resolve", "", "--server"]] {
            try run(arguments).expect(1, "the id is empty")
        }
        for text in ["", "  ", "\t\n"] {
            for arguments in [["add", text], ["edit", id, text]] {
                let output = try run(arguments)
                #expect(output.status == 64 && output.err.contains("the text is empty"), "\(arguments): \(output)")
            }
        }
        #expect(try tool.items().map(\.text) == ["one"])
    }

    @Test("Control characters in a text do not break a line or reach the terminal")
    func controlCharacters() throws {
        _ = try tool.add("a\u{1B}[2Jb\n\u{202E}c")
        let list = try tool.todo("list").out
        #expect(list.hasSuffix(#"[ ] a\u{1B}[2Jb\n\u{202E}c"# + "\n"))
        #expect(try tool.items().map(\.text) == ["a\u{1B}[2Jb\n\u{202E}c"])
    }

    @Test(
        "Hostile text is stored unchanged",
        arguments: [
            #"' OR 1=1; DROP TABLE "TodoItem"; --"#, "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} e\u{301}", "%_*?[]\\",
            #"{"json": [1, "two"]}"#, "2026-11-21T09:12:49.403Z",
        ])
    func hostileText(text: String) throws {
        let (_, url) = try tool.startServer()
        _ = try tool.add(text)
        #expect(try tool.todo("sync", "--url", url).status == 0)
        #expect(try tool.todo("sync", "--url", url, store: "other.db").status == 0)
        #expect(try tool.items(store: "other.db").map { $0.text.map { Array($0.utf8) } } == [Array(text.utf8)])
    }

    @Test("Lines of standard input, one of a megabyte and one with a NUL, are each acknowledged")
    func standardInput() throws {
        let adder = try tool.startTodo("add", "--stdin")
        let long = String(repeating: "long ", count: 200_000)
        for line in [long, "a\u{0}b"] {
            try adder.write(line: line)
            #expect(adder.readLine()?.hasPrefix("added ") == true)
        }
        #expect(adder.killNow() == 128 + SIGKILL)
        #expect(try Set(tool.items().compactMap(\.text)) == [long, "a\u{0}b"])
    }

    @Test("An unreachable server or an invalid address: status 1, a clear error, nothing lost")
    func unreachable() throws {
        _ = try tool.add("one")
        try tool.todo("sync", "--url", "http://127.0.0.1:1").expect(1, "cannot reach http://127.0.0.1:1", "refused")
        for url in ["nowhere", "ftp://127.0.0.1", "http://"] {
            try tool.todo("sync", "--url", url).expect(64, "\"\(url)\" is not a valid server address")
        }
        #expect(try tool.items().map(\.text) == ["one"])
        let status = try tool.todo("status").out
        #expect(status.contains("1 item, 1 change to push") && status.contains("failed: "))
    }

    @Test("A store file that is a folder, not a database, truncated, or of a newer format: status 1 and the path")
    func damagedStores() throws {
        try FileManager.default.createDirectory(atPath: tool.path("folder"), withIntermediateDirectories: true)
        try tool.write("This is no database, but a text of some length.", to: "text")
        _ = try tool.add("one", store: "good.db")
        let good = try Data(contentsOf: URL(fileURLWithPath: tool.path("good.db")))
        try good.prefix(good.count / 2).write(to: URL(fileURLWithPath: tool.path("cut")))
        // The format version is SQLite's user_version: four bytes at offset 60.
        var newer = good
        newer.replaceSubrange(60..<64, with: [0x7F, 0, 0, 0])
        try newer.write(to: URL(fileURLWithPath: tool.path("newer")))
        for (name, code) in [("folder", "io"), ("text", "notAStore"), ("cut", "corrupt"), ("newer", "newerFormat")] {
            let before = try? Data(contentsOf: URL(fileURLWithPath: tool.path(name)))
            try tool.todo("add", "two", store: name).expect(1, tool.path(name), "[\(code)")
            #expect((try? Data(contentsOf: URL(fileURLWithPath: tool.path(name)))) == before)
        }
    }

    @Test("A store opened read-only lists items, and refuses to add one")
    func readOnly() throws {
        _ = try tool.add("one")
        let location = "sqlite:\(tool.path("client.db")),read-only=yes"
        try tool.run("todo", "list", "--store", location).expect(0, "one")
        try tool.run("todo", "add", "two", "--store", location).expect(1, "readOnly")
        #expect(try tool.items().count == 1)
    }

    @Test(
        "Items and the status are shown on a read-only medium",
        .enabled(if: canMount, "this process cannot mount a file system"))
    func readOnlyMedium() throws {
        let folder = tool.folder.path
        let mount = try ToolProcess.run("/bin/mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", folder)
        try #require(mount.status == 0)
        defer { _ = try? ToolProcess.run("/bin/umount", folder) }
        _ = try tool.add("one")
        try #require(try ToolProcess.run("/bin/mount", "-o", "remount,ro", folder).status == 0)
        #expect(try tool.items().map(\.text) == ["one"])
        try tool.todo("status").expect(0, "1 item, 1 change to push")
        try tool.todo("add", "two").expect(1, "readOnly")
    }
}

@Suite("tideline demo")
struct DemoCommandTests {
    @Test("The demo completes with real processes and a real socket")
    func story() throws {
        let tool = try Tool()
        try tool.run("demo", "--keep", tool.path("demo")).expect(0, "checks hold over sqlite, lmdb, leveldb, ")
        for store in ["sqlite/server.sqlite", "lmdb/first.lmdb", "leveldb/second.leveldb"] {
            #expect(FileManager.default.fileExists(atPath: tool.path("demo/\(store)")))
        }
        try tool.run("demo", "--keep", tool.path("demo")).expect(1, "is not empty")
    }

    @Test("Ctrl-C ends the server and removes the folder, with status 130")
    func interruption() async throws {
        let tool = try Tool()
        let temporary = tool.path("temporary")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        let demo = try ToolProcess(
            ["TMPDIR=\(temporary)", tool.executable.path, "demo", "--store", "sqlite"],
            executable: URL(fileURLWithPath: "/usr/bin/env"))
        defer { demo.stop() }
        let announcement = "   a server listens on "
        var line = try #require(demo.readLine())
        while !line.hasPrefix(announcement) { line = try #require(demo.readLine()) }
        let url = String(line.dropFirst(announcement.count))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).count == 1)
        _ = try await send(.get, "/tables/TodoItem", to: url)
        demo.signal(SIGINT)
        #expect(demo.wait() == 130)
        try await suspendUntil("the server to end") { (try? await send(.get, "/tables/TodoItem", to: url)) == nil }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    }

    @Test("A file in place of the folder is named")
    func fileToKeepIn() throws {
        let tool = try Tool()
        try Data().write(to: URL(fileURLWithPath: tool.path("file")))
        try tool.run("demo", "--keep", tool.path("file")).expect(1, "\(tool.path("file")) is a file")
        try tool.run("demo", "--keep", tool.path("file/demo")).expect(1, "file/demo cannot be used: ")
    }
}
#endif
