import Foundation
import TidelineTestStores
import TidelineTestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A running `StoreProbe` that edits the table `Item` of a store.
final class EditingProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private lazy var lines = ProcessLines(of: process, output)

    init(_ kind: StoreKind, _ folder: String) throws {
        let programs = Bundle.main.executableURL?.deletingLastPathComponent()
        process.executableURL = programs?.appendingPathComponent("StoreProbe")
        process.arguments = [kind.engine ?? "", "--edit", folder]
        // This process keeps the read end open too: writing to a pipe without a reader raises SIGPIPE.
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
    }

    deinit { process.end() }

    /// Requests an edit and waits until it is committed.
    func edit(_ line: String) throws {
        try start(line)
        try expect("done")
    }

    /// Requests an edit.
    func start(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Waits for the next line.
    func expect(_ line: String) throws {
        let found = lines.next()
        guard found == line else { throw Failure(reason: "the process printed \(found ?? "nothing"), not \(line)") }
    }

    /// Kills the process and waits until it has ended.
    func kill() {
        process.end()
        process.waitUntilExit()
    }

    struct Failure: Error { var reason: String }
}
