#if Tool
internal import ArgumentParser
@preconcurrency internal import Dispatch
internal import Foundation
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Tideline
internal import TidelineSQLite

/// A to-do list as a local web page: one client of a Tideline server, whose network can be switched off on the page.
///
/// `make web` starts a server and two clients.
@main
struct TodoWeb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "TodoWeb",
        abstract: "A to-do list as a local web page, which works with and without a network.",
        discussion: "Ctrl-C ends it. The list stays in the database.")

    @Option(help: "The name of this client, which the page shows.")
    var name = "Client"

    @Option(help: "The address of the server that the list is synchronized with.")
    var server = "http://127.0.0.1:8080"

    @Option(help: "The SQLite file of this client's list.")
    var database = "todo-web.db"

    @Option(help: "The port of the page, on this machine only; 0 selects a free one.")
    var port = 8081

    @Flag(help: "Leave conflicts to the user. Without it, edits of both sides are merged.")
    var ask = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("the port must be between 0 and 65535.") }
    }

    func run() async throws {
        let store = try SQLiteStore(path: database)
        let list = try await TodoList(store: store, server: server, asksAboutConflicts: ask)
        let board = PageBoard(PageState(client: name))
        let page = Application(
            router: PageRoutes(list: list, board: board).router(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                let line = "\(name): http://127.0.0.1:\(channel.localAddress?.port ?? port)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            },
            logger: Logger(label: "TodoWeb") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await page.run()
                } catch let error as IOError {
                    throw ValidationError("port \(port) cannot be used: \(error). Pass another one with --port.")
                }
            }
            group.addTask { try await list.sync() }
            group.addTask { try await list.show(on: board) }
            group.addTask {
                for await _ in Self.interruptions() { throw CancellationError() }
            }
            do {
                try await group.next()
            } catch is CancellationError {}
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
        try store.close()
    }

    /// Returns a sequence that ends the program with its first element: SIGINT or SIGTERM.
    private static func interruptions() -> AsyncStream<Int32> {
        AsyncStream { continuation in
            let sources = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler { continuation.yield(number) }
                source.activate()
                return source
            }
            continuation.onTermination = { _ in for source in sources { source.cancel() } }
        }
    }
}
#else
internal import TidelineSupport

/// Prints the command that builds the program with its packages.
@main
enum TodoWeb {
    static func main() { exitForMissingTrait("Tool") }
}
#endif
