import Testing

@testable import Tideline

/// A push of a ``PushMachine`` as events, each with the action that must follow: `found 3 a: send 3`.
///
/// Events are `started 7`, `found 3 a` (of the table `T`) or `found 3 a U`, `found none`, `waits 1 for 3 a`,
/// `succeeded 3`, `failed 3`, `failedOnServer 3`, `rebased 3`, and `next`, without one. The action is `find 4...7`,
/// `send 3`, `wait`, `finish`, or `give up`. Other steps are `heldBack: 2`, `isWaiting 1 for 3: true`,
/// `mayResolve 1: true`, `mayFailAlone 1: true`, and `countFailingAlone: true`.
struct PushSteps: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [String]
    var maxInFlight: Int
    var earlier: PushMachine.EarlierFailures

    /// - Parameter steps: The steps, each text with one or several, separated by semicolons.
    init(
        _ name: String, maxInFlight: Int = 1, after earlier: PushMachine.EarlierFailures = .init(), _ steps: String...
    ) {
        testDescription = name
        self.steps = steps.flatMap { $0.split(separator: "; ").map(String.init) }
        self.maxInFlight = maxInFlight
        self.earlier = earlier
    }
}

/// The order in which a push sends operations, event by event.
@Suite("Push machine")
struct PushMachineTests {
    static let order: [PushSteps] = [
        PushSteps("P1 an empty queue ends immediately", "started 0: finish"),
        PushSteps(
            "Q3 operations are sent in the order of their creation, up to the newest at the start of the push",
            "started 7: find 1...7; found 3 a: send 3; succeeded 3: find 4...7; found 7 b: send 7",
            "succeeded 7: finish"),
        PushSteps(
            "P3 a failed operation blocks later operations on its row, but not on other rows",
            "started 9: find 1...9; found 1 a: send 1; failed 1: find 2...9; found 2 a: find 3...9",
            "found 3 a U: send 3; succeeded 3: find 4...9; found none: finish"),
        PushSteps(
            "P3 three consecutive operations that fail on the server abort the push",
            "started 9: find 1...9; found 1 a: send 1; failedOnServer 1: find 2...9; found 2 b: send 2",
            "failedOnServer 2: find 3...9; found 3 c: send 3; failedOnServer 3: give up"),
        PushSteps(
            "P7 as many operations are in flight as allowed, and those of one row never overlap", maxInFlight: 2,
            "started 5: find 1...5; found 1 a: send 1; next: find 2...5; found 2 a: find 3...5; found 3 b: send 3",
            "next: wait; succeeded 3: find 4...5; found 4 c: send 4",
            // The second operation of the first row precedes those that were made later.
            "succeeded 1: send 2; succeeded 2: find 5...5; found none: wait; succeeded 4: finish"),
        PushSteps(
            "P7 an operation that waits for one of its row in flight is held back if that one fails",
            maxInFlight: 3,
            "started 3: find 1...3; found 1 a: send 1; found 2 a: find 3...3; found 3 b: send 3; failed 1: wait",
            "succeeded 3: finish"),
        PushSteps(
            "C3 an operation whose conflict was resolved is sent again, before others, up to four times",
            "started 9: find 1...9; found 1 a: send 1",
            Array(repeating: "mayResolve 1: true; rebased 1: send 1", count: 4).joined(separator: "; "),
            "mayResolve 1: false; mayResolve 2: true; failed 1: find 2...9"),
        PushSteps(
            "Q5 canonically equivalent identifiers are different rows in the order of operations",
            "started 2: find 1...2; found 1 caf\u{E9}: send 1; failed 1: find 2...2; found 2 cafe\u{301}: send 2"),
    ]

    static let resets: [PushSteps] = ["succeeded", "failed"].map { other in
        PushSteps(
            "P3 a success or another failure in between resets the count: \(other)",
            "started 9: find 1...9; found 1 a: send 1; failedOnServer 1: find 2...9; found 2 b: send 2",
            "failedOnServer 2: find 3...9; found 3 c: send 3; \(other) 3: find 4...9; found 4 d: send 4",
            "failedOnServer 4: find 5...9; found 5 e: send 5; failedOnServer 5: find 6...9")
    }

    static let references: [PushSteps] = [
        PushSteps(
            "Q3 an operation that another one waits for is brought forward, and not sent again",
            "started 3: find 1...3; found 1 child: send 1; waits 1 for 3 parent: send 3",
            "isWaiting 1 for 3: true; isWaiting 3 for 1: false; succeeded 3: send 1; succeeded 1: find 2...3",
            "found 2 other: send 2; succeeded 2: find 3...3; found 3 parent: finish; heldBack: 0"),
        PushSteps(
            "Q3 an operation that was made during the push is brought forward, too",
            "started 1: find 1...1; found 1 child: send 1; waits 1 for 9 parent: send 9; succeeded 9: send 1",
            "succeeded 1: finish"),
        PushSteps(
            "Q3 an operation that waits for one in flight delays no other", maxInFlight: 2,
            "started 3: find 1...3; found 1 parent: send 1; next: find 2...3; found 2 child: send 2",
            "waits 2 for 1 parent: find 3...3; found 3 other: send 3; succeeded 3: wait; succeeded 1: send 2",
            "succeeded 2: finish"),
        PushSteps(
            "Q3 an operation waits until a policy has resolved the conflict of the one that it waits for",
            "started 2: find 1...2; found 1 child: send 1; waits 1 for 2 parent: send 2; rebased 2: send 2",
            "succeeded 2: send 1"),
        PushSteps(
            "Q3 a failure holds back what waits for the operation, directly or through others",
            "started 4: find 1...4; found 1 child: send 1; waits 1 for 3 parent: send 3",
            "waits 3 for 4 grandparent: send 4; isWaiting 1 for 4: true; failed 4: find 2...4; heldBack: 2",
            // A later child of an operation that is held back is held back at once.
            "found 2 sibling: send 2; waits 2 for 3 parent: find 3...4; heldBack: 3",
            "found 3 parent: find 4...4; found 4 grandparent: finish"),
        PushSteps(
            "Q3 what waits for a held operation, or for one that was held back before, is held back",
            after: .init(held: [1, 4]),
            "started 4: find 1...4; found 1 a: find 2...4; found 2 b: send 2; waits 2 for 4 d: find 3...4",
            "found 3 c: send 3; waits 3 for 2 b: find 4...4; found 4 d: finish; heldBack: 2"),
        PushSteps(
            "Q3 an operation that waits for one whose row failed is held back", maxInFlight: 2,
            "started 3: find 1...3; found 1 parent: send 1; next: find 2...3",
            // The second operation of the parent's row is brought forward, and waits for the first.
            "found 2 child: send 2; waits 2 for 3 parent: find 3...3; failed 1: find 3...3; heldBack: 1",
            "found none: finish"),
    ]

    static let deferred: [PushSteps] = [
        PushSteps(
            "Q5 what depends on a deferred operation is searched again after it", after: .init(deferred: [1, 5]),
            "started 5: find 1...5; found 1 parent: find 2...5; found 2 child: send 2",
            "waits 2 for 1 parent: find 3...5; found 3 grandchild: send 3; waits 3 for 2 child: find 4...5",
            "found 4 other: send 4; succeeded 4: find 5...5; found 5 late: find 1...1",
            // The deferred operations, in order. The first waits for the second.
            "found 1 parent: send 1; waits 1 for 5 late: send 5; succeeded 5: send 1; succeeded 1: find 2...5",
            "found 2 child: send 2; succeeded 2: find 3...5; found 3 grandchild: send 3; succeeded 3: find 4...5",
            "found none: finish; heldBack: 0"),
        PushSteps(
            "Q5 what depends on a deferred operation that fails again is held back, and counted once",
            after: .init(deferred: [1]),
            "started 3: find 1...3; found 1 parent: find 2...3; found 2 child: send 2",
            "waits 2 for 1 parent: find 3...3; found none: find 1...1; found 1 parent: send 1",
            "failedOnServer 1: find 2...3; found 2 child: send 2; waits 2 for 1 parent: find 3...3",
            "found none: finish; heldBack: 1"),
        PushSteps(
            "Q5 an operation that is in flight when the last search reaches it is not sent twice", maxInFlight: 2,
            after: .init(deferred: [1]),
            "started 3: find 1...3; found 1 parent: find 2...3; found 2 child: send 2",
            "waits 2 for 1 parent: find 3...3; found 3 other: send 3; next: find 1...1; found 1 parent: send 1",
            "succeeded 1: find 2...3; found 2 child: send 2; succeeded 2: find 3...3; found 3 other: wait",
            "succeeded 3: finish"),
        PushSteps(
            "Q5 an edit of the row of a deferred operation waits for that operation",
            after: .init(deferred: [1, 4], held: [2]),
            "started 6: find 1...6; found 1 a: find 2...6; found 2 b: find 3...6; found 3 a: find 4...6",
            "found 4 d: find 5...6; found 5 b: find 6...6; found 6 e: send 6; succeeded 6: find 1...1",
            "found 1 a: send 1; failedOnServer 1: find 4...4; found 4 d: send 4; succeeded 4: finish"),
        PushSteps(
            "P3 an operation that is not available fails alone only if others succeed", maxInFlight: 2,
            "started 2: find 1...2; found 1 a: send 1; found 2 b: send 2; mayFailAlone 1: false",
            "succeeded 2: wait; mayFailAlone 1: true"),
        PushSteps(
            "P3 operations that are repeatedly not available fail alone, twice in a row", maxInFlight: 2,
            after: .init(deferred: [1, 2], unavailable: [1, 2]),
            "started 2: find 1...2; found 1 a: find 2...2; found 2 b: find 1...1; mayFailAlone 1: true",
            "countFailingAlone: true; mayFailAlone 1: true; countFailingAlone: true; mayFailAlone 1: true",
            "countFailingAlone: false"),
        PushSteps(
            "P3 a deferred operation that is not available does not fail alone without a success", maxInFlight: 2,
            after: .init(deferred: [1]),
            "started 2: find 1...2; found 1 a: find 2...2; found 2 b: send 2; mayFailAlone 1: false"),
    ]

    @Test(
        "P1, P3, P7, C3, Q3, Q5 a push sends operations in their order",
        arguments: order + resets + references + deferred)
    func plays(_ run: PushSteps) {
        var machine = PushMachine(maxInFlight: run.maxInFlight)
        expectActions(of: run.steps) { machine.step($0, after: run.earlier) }
    }

    @Test("Q3 the search pauses while many operations wait for one in flight")
    func boundedWaiting() {
        var machine = PushMachine(maxInFlight: 8)
        for event in ["started 1000", "found 1 parent"] { _ = machine.step(event) }
        var (number, action) = (1, machine.step("next"))
        while action == "find \(number + 1)...1000" {
            number += 1
            #expect(machine.step("found \(number) \(number)") == "send \(number)")
            action = machine.step("waits \(number) for 1 parent")
        }
        #expect(action == "wait" && number == PushMachine.maximumWaiting + 1)
        #expect(machine.step("succeeded 1") == "send 2")
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
    /// Takes a step of a ``PushSteps``, and returns the next action, or the answer to a question.
    fileprivate mutating func step(_ step: String, after earlier: EarlierFailures = .init()) -> String {
        let words = step.split(separator: " ").map(String.init)
        let id = words.count > 1 ? Int64(words[1]) ?? 0 : 0
        let other = words.count > 3 ? Int64(words[3]) ?? 0 : 0
        switch words[0] {
        case "started": handle(.started(last: id, earlier: earlier))
        case "found" where words[1] == "none": handle(.found(nil))
        case "found": handle(.found(Candidate(id: id, table: words.count > 3 ? words[3] : "T", itemKey: words[2])))
        case "waits": handle(.mustWait(id, for: Candidate(id: other, table: "T", itemKey: words[4])))
        case "succeeded": handle(.succeeded(id))
        case "failed", "failedOnServer": handle(.failed(id, isServerFailure: words[0] == "failedOnServer"))
        case "rebased": handle(.rebased(id))
        case "heldBack": return "\(heldBackCount)"
        case "isWaiting": return "\(isWaiting(id, for: other))"
        case "mayResolve": return "\(mayResolve(id))"
        case "mayFailAlone": return "\(mayFailAlone(id))"
        case "countFailingAlone": return "\(countFailingAlone())"
        default: #expect(step == "next")
        }
        return switch next() {
        case .find(let after, let last): "find \(after + 1)...\(last)"
        case .send(let id): "send \(id)"
        case .wait: "wait"
        case .finish: "finish"
        case .giveUp: "give up"
        }
    }
}
