import Foundation
import TidelineStore
import TidelineTestSupport

/// Edits the table `Item` as the lines of the input request: `StoreProbe <engine> --edit <folder>`.
///
/// Each line is one transaction, after which `done` is printed.
struct Editing {
    static let marker = "--edit"

    let store: any LocalStore

    func run() throws {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let numbers = words.dropFirst().compactMap(Int.init)
            switch words.first {
            case "define": try store.define([Self.schema])
            case "upsert": try store.write { try $0.upsert(Self.item(numbers[0], numbers[1]), into: "Item") }
            case "delete": try store.write { _ = try $0.delete(id: "\(numbers[0])", from: "Item") }
            case "hold": try hold(numbers[0])
            case "random": try makeRandomEdits(numbers[0])
            case "read": try read()
            case "fork": fork()
            case "grow": try grow(numbers[0]..<numbers[1])
            default: exit(64)
            }
            say("done")
        }
        try store.close()
    }

    /// Waits within a read.
    private func read() throws {
        try store.read { reader in
            _ = try reader.schema(of: GrowingTable.schema.name)
            say("reading")
            _ = readLine()
        }
    }

    /// Uses the store in a child process.
    private func fork() {
        typealias Fork = @convention(c) () -> pid_t
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { exit(70) }
        let child = unsafeBitCast(symbol, to: Fork.self)()
        guard child == 0 else {
            waitpid(child, nil, 0)
            return
        }
        attempt("read") { try store.read { _ = try $0.count(TableQuery("Item")) } }
        attempt("write") { try store.write { _ = try $0.delete(id: "1", from: "Item") } }
        attempt("close") { try store.close() }
        _exit(0)
    }

    private func attempt(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
            say(name)
        } catch {
            say("\(name) \((error as? StoreError)?.code.rawValue ?? "other")")
        }
    }

    /// Adds rows to the growing table.
    private func grow(_ numbers: Range<Int>) throws {
        try store.define([GrowingTable.schema])
        for number in numbers {
            try store.write { try GrowingTable.add(number, to: $0) }
            say("grown \(number)")
        }
    }

    /// Changes a row and waits within the transaction.
    private func hold(_ id: Int) throws {
        try store.write { writer in
            try writer.upsert(Self.item(id, 0), into: "Item")
            say("holding")
            _ = readLine()
        }
    }

    /// Commits random edits of 30 rows.
    private func makeRandomEdits(_ count: Int) throws {
        for _ in 0..<count {
            try store.write { writer in
                for _ in 0..<Int.random(in: 1...3) {
                    try writer.upsert(Self.item(.random(in: 0..<30), .random(in: 0..<10)), into: "Item")
                }
                try writer.delete(id: "\(Int.random(in: 0..<30))", from: "Item")
            }
        }
    }

    private static let schema = TableSchema("Item", columns: [.int("number")], systemColumns: [])

    private static func item(_ id: Int, _ number: Int) -> Row {
        ["id": .string("\(id)"), "number": .int(Int64(number))]
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
