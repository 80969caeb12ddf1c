#if Tool
import NIOCore
import Testing

@testable import TidelineTool

/// The time limits of a connection, second by second.
@Suite("Connection time limits")
struct ConnectionStateTests {
    private static let limits = ServerLimits(
        idleTimeout: .seconds(60), headerTimeout: .seconds(10), bodyTimeout: .seconds(30))
    private var state = ConnectionState(limits: limits, now: .second(0))

    /// The second at which the wait ends, and whether the connection then ends with an error response.
    private var wait: (second: Int64, refuses: Bool)? {
        state.wait.map { wait in
            let isRefusal = if case .refuse = wait.then { true } else { false }
            return (Int64(wait.until.uptimeNanoseconds / 1_000_000_000), isRefusal)
        }
    }

    @Test("A request has time limits, and the time between two requests counts as idle")
    mutating func oneRequest() {
        #expect(wait ?? (0, true) == (60, false))
        state.bytesArrived(.second(5))
        state.bytesArrived(.second(6))
        #expect(wait ?? (0, false) == (15, true))
        state.headArrived(.second(7), endsConnection: false)
        state.bytesArrived(.second(20))
        #expect(wait ?? (0, false) == (37, true))
        state.requestEnded(.second(21))
        #expect(wait == nil, "the server's own work has no limit")
        state.answerBegan(endsConnection: false)
        state.answerEnded(.second(100))
        #expect(wait ?? (0, true) == (160, false))
        #expect(!state.endsWithAnswer)
    }

    @Test("A client that reads nothing of its response is disconnected; one that reads a part gets more time")
    mutating func untakenAnswer() {
        state.headArrived(.second(1), endsConnection: false)
        state.requestEnded(.second(1))
        state.answerBegan(endsConnection: false)
        state.partWritten(.second(2))
        state.partWritten(.second(9))
        #expect(wait ?? (0, true) == (32, false))
        state.partTaken(.second(20))
        #expect(wait ?? (0, true) == (50, false))
        state.answerEnded(.second(21))
        #expect(wait ?? (0, true) == (50, false))
        state.partTaken(.second(22))
        #expect(wait ?? (0, true) == (81, false))
    }

    @Test("A second request has no time limit while the first response is pending")
    mutating func pipelined() {
        state.headArrived(.second(1), endsConnection: false)
        state.requestEnded(.second(1))
        state.bytesArrived(.second(2))
        #expect(wait == nil)
        state.headArrived(.second(2), endsConnection: false)
        #expect(wait == nil && !state.canRefuse)
        state.answerBegan(endsConnection: false)
        state.answerEnded(.second(100))
        #expect(wait ?? (0, false) == (130, true))
        #expect(state.canRefuse)
    }

    @Test("A request answered before it is complete ends the connection, after time to read the response")
    mutating func earlyAnswer() {
        state.headArrived(.second(1), endsConnection: false)
        state.answerBegan(endsConnection: false)
        #expect(state.endsWithAnswer && !state.canRefuse)
        state.partWritten(.second(2))
        state.answerEnded(.second(2))
        state.closing(.second(2))
        #expect(wait ?? (0, true) == (32, false))
        state.partTaken(.second(10))
        #expect(wait ?? (0, true) == (12, false))
        #expect(!state.canRefuse)
    }

    @Test("When the server stops, the connection ends after the responses to complete requests")
    mutating func stop() {
        var idle = state
        idle.stop()
        #expect(!idle.isResponseDue)
        // Two requests are complete, and a third one is not.
        for _ in 0..<2 {
            state.headArrived(.second(1), endsConnection: false)
            state.requestEnded(.second(1))
        }
        state.headArrived(.second(2), endsConnection: false)
        state.stop()
        for isLast in [false, true] {
            #expect(state.isResponseDue)
            state.answerBegan(endsConnection: false)
            #expect(state.endsWithAnswer == isLast)
            state.answerEnded(.second(3))
        }
        #expect(!state.isResponseDue)
    }
}

extension NIODeadline {
    fileprivate static func second(_ number: Int64) -> NIODeadline {
        .uptimeNanoseconds(UInt64(number) * 1_000_000_000)
    }
}
#endif
