internal import Foundation
internal import Testing

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#endif

/// A second process that writes to a store; see `StoreProbe`.
public struct Probe {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    /// How it ended.
    public struct End {
        /// Its exit status, or the signal that ended it.
        public var status: Int32
        /// How many transactions it reported.
        public var acknowledged: Int
        /// The code of the error that it met, empty when it met none.
        public var failure: String
    }

    /// Starts it.
    /// - Parameters:
    ///   - kind: A persistent kind of store.
    ///   - folder: Where its files are; see ``StoreKind/path(in:)``.
    ///   - prefix: What the ids of its rows begin with.
    ///   - count: How many transactions it makes.
    public init(_ kind: StoreKind, in folder: String, prefix: String, count: Int) throws {
        let executable = try #require(Bundle.main.executableURL).deletingLastPathComponent()
        process.executableURL = executable.appendingPathComponent("StoreProbe")
        process.arguments = [
            "\(try #require(kind.engine)):\(kind.path(in: folder))", prefix, String(count),
        ]
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Waits for its end.
    public func finish() -> End {
        let lines = output.fileHandleForReading.readDataToEndOfFile().count { $0 == UInt8(ascii: "\n") }
        let failure = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return End(
            status: process.terminationStatus, acknowledged: lines, failure: String(decoding: failure, as: UTF8.self))
    }

    /// Waits until it reported so many transactions, or ended.
    /// - Returns: How many it reported.
    public func wait(for count: Int) -> Int {
        var lines = 0
        while lines < count {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            lines += data.count { $0 == UInt8(ascii: "\n") }
        }
        return lines
    }

    /// Kills it once it reported so many transactions.
    /// - Returns: How many it reported in the end.
    public func kill(after count: Int) -> Int {
        let lines = wait(for: count)
        sendSignal(process.processIdentifier, SIGKILL)
        return lines + finish().acknowledged
    }
}

private func sendSignal(_ process: Int32, _ signal: Int32) { _ = kill(process, signal) }
