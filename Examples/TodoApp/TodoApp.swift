#if AsyncHTTPClient && Macros
import Foundation
import TidelineAsyncHTTPClient
import TidelineMacros
import TidelineSQLite

@Table("TodoItem")
struct Todo: Identifiable, Sendable {
    var id: ID<Todo> = .new
    var text: String
    var complete = false
    var created: Date = .now
}

/// A to-do list in the terminal: `TodoApp [SERVER] [FILE]`.
@main
struct TodoApp {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let server = arguments.count > 1 ? arguments[1] : "http://127.0.0.1:8080"
        let store = try SQLiteStore(path: arguments.count > 2 ? arguments[2] : "todo.db")
        let client = try SyncClient(url: server, store: store)
        try await client.define(Todo.self)
        let todos = client.table(Todo.self)
        let all = Todo.order { $0.created }

        // Pushes after each change and pulls every five seconds, whenever the server can be reached.
        try await client.start([SyncSubscription(all, queryID: "all", interval: .seconds(5))])

        // Prints the list whenever a commit changes it: an edit here, or rows that a pull brought.
        let screen = Task {
            for try await update in todos.observe(all) {
                print("\nTo do:")
                for (index, todo) in update.rows.enumerated() {
                    print("\(index + 1). [\(todo.complete ? "x" : " ")] \(todo.text)")
                }
            }
        }
        defer { screen.cancel() }
        for await line in lines {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let shown = try await todos.fetch(all)
            let chosen = words.last.flatMap { Int($0) }.flatMap { shown.indices.contains($0 - 1) ? shown[$0 - 1] : nil }
            switch (words.first, chosen) {
            case ("add", _) where words.count == 2: try await todos.insert(Todo(text: words[1]))
            case ("done", let todo?): try await todos.update(todo.id) { $0.complete = true }
            case ("delete", let todo?): try await todos.delete(todo.id)
            default: print("add TEXT, done NUMBER, delete NUMBER, or quit")
            }
        }
        await client.stop()
    }

    /// The lines of the standard input until `quit`. They are read on a thread of their own because reading blocks.
    static let lines = AsyncStream<String> { lines in
        Thread.detachNewThread {
            while let line = readLine(), line != "quit" { lines.yield(line) }
            lines.finish()
        }
    }
}
#else
import TidelineSupport

/// Prints the command that builds the app with the packages that it needs.
@main
enum TodoApp {
    static func main() { exitForMissingTrait("AsyncHTTPClient,Macros") }
}
#endif
