import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A second process that writes to a store.
struct Probe {
    private let process = Process()
    private let output = Pipe()

    /// - Parameters:
    ///   - prefix: What the ids of its rows begin with.
    ///   - count: How many transactions it makes.
    init(_ path: String, prefix: String, count: Int) throws {
        let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
        process.executableURL = folder.appendingPathComponent("StoreProbe")
        process.arguments = [path, prefix, String(count)]
        process.standardOutput = output
        try process.run()
    }

    /// Waits for its end, and returns how it ended and how many transactions it reported.
    func finish() -> (status: Int32, acknowledged: Int) {
        let lines = output.fileHandleForReading.readDataToEndOfFile().count { $0 == UInt8(ascii: "\n") }
        process.waitUntilExit()
        return (process.terminationStatus, lines)
    }

    /// Kills it once it reported so many transactions, and returns how many it reported in the end.
    func kill(after count: Int) -> Int {
        var lines = 0
        while lines < count {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            lines += data.count { $0 == UInt8(ascii: "\n") }
        }
        sendSignal(process.processIdentifier, SIGKILL)
        return lines + finish().acknowledged
    }
}

private func sendSignal(_ process: Int32, _ signal: Int32) { _ = kill(process, signal) }

/// Expects a ``StoreError`` of that code, and returns it.
@discardableResult
func expectError(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation, performing: body)
    let thrown = error.map(String.init(describing:)) ?? "nothing thrown"
    #expect(error?.code == code, "\(thrown)", sourceLocation: sourceLocation)
    return error
}
