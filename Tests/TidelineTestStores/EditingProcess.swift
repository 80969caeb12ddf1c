internal import Foundation
internal import TidelineConformance
internal import TidelineSupport
internal import TidelineTestSupport

/// A running `StoreProbe` that edits the table `Item` of a store.
public final class EditingProcess {
    private let process = Process()
    private let input = Pipe.uninherited()
    private let output = Pipe.uninherited()
    private lazy var lines = ProcessLines(of: process, output)

    /// Starts the process on the store of the given kind in a folder, or on one in memory.
    ///
    /// - Parameter addressSpace: The limit of its address space in KiB, or `nil` for no limit.
    public init(_ kind: StoreKind, _ folder: String, addressSpace: Int? = nil) throws {
        let probe = StoreProcess.probe().executable
        let limit = addressSpace.map { "ulimit -v \($0); " } ?? ""
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "\(limit)exec \"$0\" \"$@\"", probe, kind.engine ?? "memory", "--edit", folder]
        // This process keeps the read end open too: writing to a pipe without a reader raises SIGPIPE.
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
    }

    deinit { process.end() }

    /// Requests an edit and waits until it is committed.
    public func edit(_ line: String) throws {
        try start(line)
        try expect("done")
    }

    /// Requests an edit.
    public func start(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Waits for the next line.
    public func expect(_ line: String) throws {
        let found = lines.next()
        guard found == line else { throw Failure(reason: "the process printed \(found ?? "nothing"), not \(line)") }
    }

    /// Kills the process and waits until it has ended.
    public func kill() {
        process.end()
        process.waitUntilExit()
    }

    /// Kills the process and waits until it has ended. Returns the lines that it printed and that were not expected
    /// yet.
    public func killed() -> [String] {
        kill()
        // Without the write end of this process, the output ends.
        try? output.fileHandleForWriting.close()
        var left: [String] = []
        while let line = lines.next() { left.append(line) }
        return left
    }

    /// Ends the input, after which the process closes the store, and waits until it has ended.
    public func finish() throws {
        try input.fileHandleForWriting.close()
        try process.finish()
        guard process.terminationStatus == 0 else { throw Failure(reason: "the process failed") }
    }

    /// Stops the process as the system suspends an app, or lets it continue.
    public func setSuspended(_ isSuspended: Bool) {
        _ = isSuspended ? process.suspend() : process.resume()
    }

    struct Failure: Error { var reason: String }
}
