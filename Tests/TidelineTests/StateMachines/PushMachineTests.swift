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

    // MARK: References

    /// Begins a push in which the first operation waits for a later one.
    private static func waiting(last: Int64, maxInFlight: Int = 1) -> PushMachine {
        var machine = PushMachine(maxInFlight: maxInFlight)
        _ = machine.step(.started(last: last))
        _ = machine.step(.found(candidate(1, "child")))
        return machine
    }

    @Test("Q3 an operation that another one waits for is brought forward, and not sent again")
    func broughtForward() {
        var machine = Self.waiting(last: 3)
        #expect(machine.step(.mustWait(1, for: Self.candidate(3, "parent"))) == .send(3))
        #expect(machine.isWaiting(1, for: 3) && !machine.isWaiting(3, for: 1))
        #expect(machine.step(.succeeded(3)) == .send(1))
        #expect(machine.step(.succeeded(1)) == .find(after: 1, upTo: 3))
        #expect(machine.step(.found(Self.candidate(2, "other"))) == .send(2))
        #expect(machine.step(.succeeded(2)) == .find(after: 2, upTo: 3))
        #expect(machine.step(.found(Self.candidate(3, "parent"))) == .finish)
        #expect(machine.heldBackCount == 0)
    }

    @Test("Q3 an operation that was made during the push is brought forward, too")
    func broughtForwardFromBeyond() {
        var machine = Self.waiting(last: 1)
        #expect(machine.step(.mustWait(1, for: Self.candidate(9, "parent"))) == .send(9))
        #expect(machine.step(.succeeded(9)) == .send(1))
        #expect(machine.step(.succeeded(1)) == .finish)
    }

    @Test("Q3 an operation that waits for one in flight delays no other")
    func waitsForOneInFlight() {
        var machine = PushMachine(maxInFlight: 2)
        _ = machine.step(.started(last: 3))
        _ = machine.step(.found(Self.candidate(1, "parent")))
        #expect(machine.next() == .find(after: 1, upTo: 3))
        #expect(machine.step(.found(Self.candidate(2, "child"))) == .send(2))
        #expect(machine.step(.mustWait(2, for: Self.candidate(1, "parent"))) == .find(after: 2, upTo: 3))
        #expect(machine.step(.found(Self.candidate(3, "other"))) == .send(3))
        #expect(machine.step(.succeeded(3)) == .wait)
        #expect(machine.step(.succeeded(1)) == .send(2))
        #expect(machine.step(.succeeded(2)) == .finish)
    }

    @Test("Q3 an operation waits until a policy has resolved the conflict of the one that it waits for")
    func waitsForRebased() {
        var machine = Self.waiting(last: 2)
        _ = machine.step(.mustWait(1, for: Self.candidate(2, "parent")))
        #expect(machine.step(.rebased(2)) == .send(2))
        #expect(machine.step(.succeeded(2)) == .send(1))
    }

    @Test("Q3 a failure holds back what waits for the operation, directly or through others")
    func heldBack() {
        var machine = Self.waiting(last: 4)
        #expect(machine.step(.mustWait(1, for: Self.candidate(3, "parent"))) == .send(3))
        #expect(machine.step(.mustWait(3, for: Self.candidate(4, "grandparent"))) == .send(4))
        #expect(machine.isWaiting(1, for: 4))
        #expect(machine.step(.failed(4, isServerFailure: false)) == .find(after: 1, upTo: 4))
        #expect(machine.heldBackCount == 2)
        // A later child of an operation that is held back is held back at once.
        #expect(machine.step(.found(Self.candidate(2, "child 2"))) == .send(2))
        #expect(machine.step(.mustWait(2, for: Self.candidate(3, "parent"))) == .find(after: 2, upTo: 4))
        #expect(machine.heldBackCount == 3)
        #expect(machine.step(.found(Self.candidate(3, "parent"))) == .find(after: 3, upTo: 4))
        #expect(machine.step(.found(Self.candidate(4, "grandparent"))) == .finish)
    }

    @Test("Q3 what waits for a held operation, or for one that was held back before, is held back")
    func heldBackByHeld() {
        var machine = PushMachine()
        _ = machine.step(.started(last: 4, earlier: .init(held: [1, 4])))
        #expect(machine.step(.found(Self.candidate(1, "a"))) == .find(after: 1, upTo: 4))
        #expect(machine.step(.found(Self.candidate(2, "b"))) == .send(2))
        #expect(machine.step(.mustWait(2, for: Self.candidate(4, "d"))) == .find(after: 2, upTo: 4))
        #expect(machine.step(.found(Self.candidate(3, "c"))) == .send(3))
        #expect(machine.step(.mustWait(3, for: Self.candidate(2, "b"))) == .find(after: 3, upTo: 4))
        #expect(machine.step(.found(Self.candidate(4, "d"))) == .finish)
        #expect(machine.heldBackCount == 2)
    }

    @Test("Q5 what depends on a deferred operation is searched again after it")
    func postponed() {
        var machine = PushMachine()
        _ = machine.step(.started(last: 5, earlier: .init(deferred: [1, 5])))
        #expect(machine.step(.found(Self.candidate(1, "parent"))) == .find(after: 1, upTo: 5))
        #expect(machine.step(.found(Self.candidate(2, "child"))) == .send(2))
        #expect(machine.step(.mustWait(2, for: Self.candidate(1, "parent"))) == .find(after: 2, upTo: 5))
        #expect(machine.step(.found(Self.candidate(3, "grandchild"))) == .send(3))
        #expect(machine.step(.mustWait(3, for: Self.candidate(2, "child"))) == .find(after: 3, upTo: 5))
        #expect(machine.step(.found(Self.candidate(4, "other"))) == .send(4))
        #expect(machine.step(.succeeded(4)) == .find(after: 4, upTo: 5))
        #expect(machine.step(.found(Self.candidate(5, "late"))) == .find(after: 0, upTo: 1))
        // The deferred operations, in order. The first waits for the second.
        #expect(machine.step(.found(Self.candidate(1, "parent"))) == .send(1))
        #expect(machine.step(.mustWait(1, for: Self.candidate(5, "late"))) == .send(5))
        #expect(machine.step(.succeeded(5)) == .send(1))
        #expect(machine.step(.succeeded(1)) == .find(after: 1, upTo: 5))
        #expect(machine.step(.found(Self.candidate(2, "child"))) == .send(2))
        #expect(machine.step(.succeeded(2)) == .find(after: 2, upTo: 5))
        #expect(machine.step(.found(Self.candidate(3, "grandchild"))) == .send(3))
        #expect(machine.step(.succeeded(3)) == .find(after: 3, upTo: 5))
        #expect(machine.step(.found(nil)) == .finish)
        #expect(machine.heldBackCount == 0)
    }

    @Test("Q5 what depends on a deferred operation that fails again is held back, and counted once")
    func postponedAndHeldBack() {
        var machine = PushMachine()
        _ = machine.step(.started(last: 3, earlier: .init(deferred: [1])))
        _ = machine.step(.found(Self.candidate(1, "parent")))
        _ = machine.step(.found(Self.candidate(2, "child")))
        #expect(machine.step(.mustWait(2, for: Self.candidate(1, "parent"))) == .find(after: 2, upTo: 3))
        #expect(machine.step(.found(nil)) == .find(after: 0, upTo: 1))
        #expect(machine.step(.found(Self.candidate(1, "parent"))) == .send(1))
        #expect(machine.step(.failed(1, isServerFailure: true)) == .find(after: 1, upTo: 3))
        #expect(machine.step(.found(Self.candidate(2, "child"))) == .send(2))
        #expect(machine.step(.mustWait(2, for: Self.candidate(1, "parent"))) == .find(after: 2, upTo: 3))
        #expect(machine.step(.found(nil)) == .finish)
        #expect(machine.heldBackCount == 1)
    }

    @Test("Q5 an operation that is in flight when the last search reaches it is not sent twice")
    func postponedInFlight() {
        var machine = PushMachine(maxInFlight: 2)
        _ = machine.step(.started(last: 3, earlier: .init(deferred: [1])))
        _ = machine.step(.found(Self.candidate(1, "parent")))
        _ = machine.step(.found(Self.candidate(2, "child")))
        #expect(machine.step(.mustWait(2, for: Self.candidate(1, "parent"))) == .find(after: 2, upTo: 3))
        #expect(machine.step(.found(Self.candidate(3, "other"))) == .send(3))
        #expect(machine.next() == .find(after: 0, upTo: 1))
        #expect(machine.step(.found(Self.candidate(1, "parent"))) == .send(1))
        #expect(machine.step(.succeeded(1)) == .find(after: 1, upTo: 3))
        #expect(machine.step(.found(Self.candidate(2, "child"))) == .send(2))
        #expect(machine.step(.succeeded(2)) == .find(after: 2, upTo: 3))
        #expect(machine.step(.found(Self.candidate(3, "other"))) == .wait)
        #expect(machine.step(.succeeded(3)) == .finish)
    }

    @Test("Q3 the search pauses while many operations wait for one in flight")
    func boundedWaiting() {
        var machine = PushMachine(maxInFlight: 8)
        _ = machine.step(.started(last: 1_000))
        _ = machine.step(.found(Self.candidate(1, "parent")))
        var (number, action) = (Int64(1), machine.next())
        while case .find(let after, _) = action, number < 1_000 {
            number = after + 1
            #expect(machine.step(.found(Self.candidate(number, "\(number)"))) == .send(number))
            action = machine.step(.mustWait(number, for: Self.candidate(1, "parent")))
        }
        #expect(action == .wait && number == Int64(PushMachine.maximumWaiting) + 1)
        #expect(machine.step(.succeeded(1)) == .send(2))
    }

    @Test("Q3 an operation that waits for one whose row failed is held back")
    func waitsForBlockedRow() {
        var machine = PushMachine(maxInFlight: 2)
        _ = machine.step(.started(last: 3))
        #expect(machine.step(.found(Self.candidate(1, "parent"))) == .send(1))
        #expect(machine.next() == .find(after: 1, upTo: 3))
        // The second operation of the parent's row is brought forward, and waits for the first.
        #expect(machine.step(.found(Self.candidate(2, "child"))) == .send(2))
        #expect(machine.step(.mustWait(2, for: Self.candidate(3, "parent"))) == .find(after: 2, upTo: 3))
        #expect(machine.step(.failed(1, isServerFailure: false)) == .find(after: 2, upTo: 3))
        #expect(machine.heldBackCount == 1)
        #expect(machine.step(.found(nil)) == .finish)
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
