import Testing

@testable import Tideline

/// The order in which a push sends operations, event by event.
@Suite("Push machine")
struct PushMachineTests {
    static func candidate(_ id: Int64, _ key: String, table: String = "T") -> PushMachine.Candidate {
        .init(id: id, table: table, itemKey: key)
    }

    @Test("P1 an empty queue ends immediately")
    func empty() {
        var machine = PushMachine()
        #expect(machine.step(.started(last: 0)) == .finish)
    }

    @Test("Q3 operations are sent in the order of their creation, up to the newest at the start of the push")
    func order() {
        var machine = PushMachine()
        #expect(machine.step(.started(last: 7)) == .find(after: 0, upTo: 7))
        #expect(machine.step(.found(Self.candidate(3, "a"))) == .send(3))
        #expect(machine.step(.succeeded(3)) == .find(after: 3, upTo: 7))
        #expect(machine.step(.found(Self.candidate(7, "b"))) == .send(7))
        #expect(machine.step(.succeeded(7)) == .finish)
    }

    @Test("P3 a failed operation blocks later operations on its row, but not on other rows")
    func blocked() {
        var machine = PushMachine()
        _ = machine.step(.started(last: 9))
        _ = machine.step(.found(Self.candidate(1, "a")))
        #expect(machine.step(.failed(1, isServerFailure: false)) == .find(after: 1, upTo: 9))
        #expect(machine.step(.found(Self.candidate(2, "a"))) == .find(after: 2, upTo: 9))
        #expect(machine.step(.found(Self.candidate(3, "a", table: "U"))) == .send(3))
        #expect(machine.step(.succeeded(3)) == .find(after: 3, upTo: 9))
        #expect(machine.step(.found(nil)) == .finish)
    }

    @Test("P3 three consecutive operations that fail on the server abort the push")
    func givesUp() {
        var machine = PushMachine()
        _ = machine.step(.started(last: 9))
        for id in Int64(1)...2 {
            _ = machine.step(.found(Self.candidate(id, "\(id)")))
            #expect(machine.step(.failed(id, isServerFailure: true)) == .find(after: id, upTo: 9))
        }
        _ = machine.step(.found(Self.candidate(3, "3")))
        #expect(machine.step(.failed(3, isServerFailure: true)) == .giveUp)
    }

    @Test("P3 a success or another failure in between resets the count", arguments: [true, false])
    func countsAnew(succeeds: Bool) {
        var machine = PushMachine()
        _ = machine.step(.started(last: 9))
        for id in Int64(1)...5 {
            _ = machine.step(.found(Self.candidate(id, "\(id)")))
            let isServer = id != 3
            let event: PushMachine.Event =
                !isServer && succeeds ? .succeeded(id) : .failed(id, isServerFailure: isServer)
            #expect(machine.step(event) == .find(after: id, upTo: 9))
        }
    }

    @Test("P7 as many operations are in flight as allowed, and those of one row never overlap")
    func window() {
        var machine = PushMachine(maxInFlight: 2)
        #expect(machine.step(.started(last: 5)) == .find(after: 0, upTo: 5))
        #expect(machine.step(.found(Self.candidate(1, "a"))) == .send(1))
        #expect(machine.next() == .find(after: 1, upTo: 5))
        #expect(machine.step(.found(Self.candidate(2, "a"))) == .find(after: 2, upTo: 5))
        #expect(machine.step(.found(Self.candidate(3, "b"))) == .send(3))
        #expect(machine.next() == .wait)
        #expect(machine.step(.succeeded(3)) == .find(after: 3, upTo: 5))
        #expect(machine.step(.found(Self.candidate(4, "c"))) == .send(4))
        // The second operation of the first row precedes those that were made later.
        #expect(machine.step(.succeeded(1)) == .send(2))
        #expect(machine.step(.succeeded(2)) == .find(after: 4, upTo: 5))
        #expect(machine.step(.found(nil)) == .wait)
        #expect(machine.step(.succeeded(4)) == .finish)
    }

    @Test("P7 an operation that waits for one of its row in flight is held back if that one fails")
    func failureInWindow() {
        var machine = PushMachine(maxInFlight: 3)
        _ = machine.step(.started(last: 3))
        _ = machine.step(.found(Self.candidate(1, "a")))
        _ = machine.step(.found(Self.candidate(2, "a")))
        #expect(machine.step(.found(Self.candidate(3, "b"))) == .send(3))
        #expect(machine.step(.failed(1, isServerFailure: false)) == .wait)
        #expect(machine.step(.succeeded(3)) == .finish)
    }

    @Test("P3 pauses double, vary, honor Retry-After, and end")
    func pauses() {
        let policy = RetryPolicy(maximumAttempts: 4, initialDelay: .seconds(1), maximumDelay: .seconds(3))
        #expect(policy.delay(afterAttempt: 1, retryAfter: nil, random: 1) == .seconds(1))
        #expect(policy.delay(afterAttempt: 1, retryAfter: nil, random: 0) == .milliseconds(500))
        #expect(policy.delay(afterAttempt: 2, retryAfter: nil, random: 1) == .seconds(2))
        #expect(policy.delay(afterAttempt: 3, retryAfter: nil, random: 1) == .seconds(3))
        #expect(policy.delay(afterAttempt: 4, retryAfter: nil, random: 1) == nil)
        #expect(policy.delay(afterAttempt: 1, retryAfter: .seconds(2), random: 0) == .seconds(2))
        #expect(policy.delay(afterAttempt: 1, retryAfter: .seconds(100), random: 0) == .seconds(3))
        #expect(policy.delay(afterAttempt: 1, retryAfter: .seconds(-5), random: 0) == .zero)
    }
}

extension PushMachine {
    /// Handles an event and returns the next action.
    mutating func step(_ event: Event) -> Action {
        handle(event)
        return next()
    }
}
