#if Tool
import Foundation
import Testing
import TidelineTestSupport

@testable import TidelineTool

/// The program of the tutorial *An app in sixty lines*.
@Suite("An app in sixty lines", .timeLimit(.minutes(15)))
struct TodoAppTests {
    @Test("The article contains exactly the program, which has at most sixty lines")
    func article() throws {
        let source = try packageFile("Examples/TodoApp/TodoApp.swift")
        // The rest is for a build without the traits.
        let program = try #require(source.firstMatch(of: /#if AsyncHTTPClient && Macros\n((?s).*)#else\n/)).1
        let blocks = try packageFile("Sources/Tideline/Tideline.docc/AppInSixtyLines.md")
            .components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.joined(separator: "\n") == String(program))
        #expect(program.split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
    }

    @Test("An item reaches the server and another client; after a kill, the app shows and changes it again")
    func run() async throws {
        let tool = try Tool()
        try await serving { authority in
            // The program's output is buffered if it is not a terminal, unless `stdbuf` starts it.
            func start(_ store: String) throws -> ToolProcess {
                let program = tool.executable.deletingLastPathComponent().appendingPathComponent("TodoApp").path
                return try ToolProcess(
                    ["-oL", program, "http://\(authority)", tool.path(store)], keepsErrors: true,
                    executable: URL(fileURLWithPath: "/usr/bin/stdbuf"))
            }
            func expect(_ line: String, from app: ToolProcess) {
                while let next = app.readLine(within: WaitLimit.seconds) { if next.hasPrefix(line) { return } }
                Issue.record("the output ended without \(line)")
            }
            let first = try start("first.db")
            try first.write(line: "add Buy milk")
            try await suspendUntil("the server to have the item") {
                let answer = try await send(.get, "/tables/TodoItem", to: authority)
                return String(decoding: answer.body, as: UTF8.self).contains("Buy milk")
            }
            _ = first.killNow()

            let (again, other) = (try start("first.db"), try start("second.db"))
            defer { other.stop() }
            expect("1. [ ] Buy milk", from: again)
            expect("1. [ ] Buy milk", from: other)
            try again.write(line: "done 2")
            expect("add TEXT", from: again)
            try again.write(line: "done 1")
            expect("1. [x] Buy milk", from: again)
            expect("1. [x] Buy milk", from: other)
            try again.write(line: "quit")
            #expect(again.wait() == 0)
            // A client that is released while its sync runs logs it.
            #expect(!again.errors().contains("released"))
        }
    }
}
#endif
