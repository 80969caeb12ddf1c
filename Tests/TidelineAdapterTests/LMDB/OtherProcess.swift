import Foundation
import Testing
import TidelineKeyValue
import TidelineLMDB
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A second process that uses an engine: this test program, started again for one of the roles below.
final class OtherProcess {
    private let process = Process()
    private let output = Pipe.uninherited()
    private let input = Pipe.uninherited()

    fileprivate static let variable = "TIDELINE_LMDB_ROLE"

    /// - Parameter words: The role, followed by its arguments.
    init(_ words: String...) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["--testing-library", "swift-testing", "--filter", "OtherProcessRoles"]
        process.environment = ProcessInfo.processInfo.environment.merging(
            [Self.variable: words.joined(separator: "\n")], uniquingKeysWith: { $1 })
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = input
        try process.run()
    }

    deinit {
        process.end()
        process.waitUntilExit()
    }

    /// Waits until the process has printed `done` the given number of times.
    /// - Returns: The number of times it printed `done`.
    @discardableResult
    func wait(for count: Int) -> Int {
        process.limitingTime {
            var seen = 0
            while seen < count {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { break }
                seen += data.count { $0 == OtherProcessRoles.done }
            }
            return seen
        }
    }

    /// Waits until the process ends.
    /// - Returns: The number of times it printed `done` since the last wait, and whether it exited with status 0.
    func finish() -> (done: Int, isWell: Bool) {
        process.limitingTime {
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (data.count { $0 == OtherProcessRoles.done }, process.terminationStatus == 0)
        }
    }

    /// Ends the input of the process.
    func endInput() { try? input.fileHandleForWriting.close() }

    /// Kills the process.
    /// - Returns: The number of times it printed `done` since the last wait.
    func end() -> Int {
        process.end()
        return finish().done
    }
}

/// The roles of the other process.
@Suite(.enabled(if: ProcessInfo.processInfo.environment[OtherProcess.variable] != nil)) struct OtherProcessRoles {
    /// A byte that the test program never prints otherwise.
    static let done: UInt8 = 0x01

    @Test func play() throws {
        let role = try #require(ProcessInfo.processInfo.environment[OtherProcess.variable])
        let words = role.split(separator: "\n").map(String.init)
        switch words[0] {
        case "write": try write(to: words[1], prefix: words[2], count: try #require(Int(words[3])))
        case "count": try count(in: words[1], by: try #require(Int(words[2])))
        case "read": try read(words[1])
        case "hold": try hold(words[1])
        default: Issue.record("no role \(words[0])")
        }
    }

    private func sayDone() { FileHandle.standardOutput.write(Data([Self.done])) }

    private static let tiny = LMDBOptions(mapSize: 1 << 16, busyTimeout: .seconds(WaitLimit.seconds))

    /// Commits transactions with the same number in two spaces.
    private func write(to path: String, prefix: String, count: Int) throws {
        let engine = try LMDBEngine(path: path, options: Self.tiny)
        for number in 0..<count {
            let value = Array(repeating: UInt8(number % 251), count: number % 50 * 100)
            try engine.write { transaction throws in
                for space in [100, 101] as [UInt32] { try transaction.put(key(space, "\(prefix)\(number)"), value) }
            }
            sayDone()
        }
        try engine.close()
    }

    /// Commits transactions that increment a number and outgrow the map after reading it.
    private func count(in path: String, by count: Int) throws {
        try withEngine(path, Self.tiny) { engine in for _ in 0..<count { try increment(engine) } }
    }

    /// Commits a transaction, and closes the store when the input ends.
    private func hold(_ path: String) throws {
        let engine = try LMDBEngine(path: path, options: Self.tiny)
        try engine.write { try $0.put(key(3, "held"), [1]) }
        sayDone()
        _ = FileHandle.standardInput.readDataToEndOfFile()
        try engine.close()
    }

    /// Reads until the process is killed.
    private func read(_ path: String) throws {
        let engine = try LMDBEngine(path: path, options: Self.tiny)
        try engine.read { _ in
            sayDone()
            _ = FileHandle.standardInput.availableData
        }
    }
}

/// Increments a number and writes many other entries after reading it.
func increment(_ engine: LMDBEngine) throws {
    try engine.write { transaction throws in
        let digits = try transaction.value(key(1, "number")) ?? Array("0".utf8)
        let number = try #require(Int(String(decoding: digits, as: UTF8.self)))
        for part in 0..<4 {
            try transaction.put(key(2, "\(number) \(part)"), Array(repeating: 1, count: 3000))
        }
        try transaction.put(key(1, "number"), Array("\(number + 1)".utf8))
    }
}
