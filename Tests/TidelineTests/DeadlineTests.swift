import Foundation
import Testing
import TidelineSupport
import TidelineTestSupport

@testable import Tideline

/// The time limits of the exchanges of transports.
@Suite("Deadlines", .timeLimit(.minutes(5)))
struct DeadlineTests {
    private static let day = Duration.seconds(86_400)

    private func never() async throws { try await Task.sleep(for: Self.day) }

    @Test("Each operation ends at its own deadline, in whatever order they began")
    func each() async throws {
        let deadlines = Deadlines()
        // Its task sleeps for a day.
        try await deadlines.run(for: Self.day) { _ in }
        let codes = await withTaskGroup(of: TransportError.Code?.self) { group in
            for milliseconds in [200, 20, 400, 100] {
                group.addTask {
                    let start = ContinuousClock.now
                    let error = await #expect(throws: TransportError.self) {
                        try await deadlines.run(for: .milliseconds(milliseconds)) { _ in try await never() }
                    }
                    #expect(ContinuousClock.now - start >= .milliseconds(milliseconds))
                    return error?.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == [.timeout, .timeout, .timeout, .timeout])
    }

    @Test("A cancelled task cancels its operation")
    func cancellation() async throws {
        let task = Task { try await withDeadline(Self.day) { _ in try await never() } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("An operation that ends in time is not cancelled, and its error is its own", arguments: [60, Int64.max])
    func inTime(_ seconds: Int64) async throws {
        let limit = Duration.seconds(seconds)
        #expect(try await Deadlines().run(for: limit) { _ in Task.isCancelled } == false)
        await #expect(throws: CancellationError.self) {
            try await withDeadline(limit) { _ in throw CancellationError() }
        }
    }

    @Test("A response that arrives as the time ends is not lost")
    func late() async throws {
        let answer = try await withDeadline(.milliseconds(1)) { _ in
            try? await never()
            return "answer"
        }
        #expect(answer == "answer")
    }

    #if os(Linux)
    /// Before, they took 65 and 21 MB.
    @Test("What has ended takes no memory", arguments: [("push", 2_000), ("deadlines", 30_000)])
    func memory(_ work: String, _ count: Int) throws {
        let (process, output) = (Process(), Pipe.uninherited())
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent()
            .appendingPathComponent("SyncProbe")
        process.arguments = ["grow", work, "\(count)"]
        process.standardOutput = output
        try process.run()
        let line = ProcessLines(of: process, output).next() ?? "nothing"
        process.waitUntilExit()
        let growth = try #require(line.split(separator: " ").last.flatMap { Int($0) }, "\(work) printed \(line)")
        #expect(growth < 8 << 10)
    }
    #endif
}
