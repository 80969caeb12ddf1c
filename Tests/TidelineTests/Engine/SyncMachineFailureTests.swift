import Testing
import TidelineStore

/// The decisions of a sync that runs itself about failures of the network, the server, and the sign-in.
@Suite("Sync machine, failures")
struct SyncMachineFailureTests {
    /// The delays of retries. The random number of a run is 0.5, which reduces each to three quarters.
    private static let delays = [0.75, 1.5, 3, 6, 12, 24, 48, 96, 192, 225, 225]
    private static let offlineSteps = delays.enumerated().map { number, delay in
        "pushed network: offline\(number + 1) \(delay), offline; offline\(number + 1): push all"
    }.joined(separator: "; ")

    static let retryAfter: [MachineSteps] = [(20, "20.0"), (0, "0.75"), (9_999, "300.0")].map { seconds, delay in
        MachineSteps(
            "S3 Retry-After is obeyed up to the bound: \(seconds)", retryAfter: .seconds(seconds),
            "declared a: push all; pushed network: offline1 \(delay), offline")
    }

    static let network: [MachineSteps] = [
        MachineSteps(
            "S3 failures of the network are retried with growing delays, up to the bound, and a success resets them",
            "declared a: push all", offlineSteps,
            "pushed: pulling a, pull a; pulled: interval1 60.0, idle; interval1: push",
            "pushed network: offline12 0.75, offline"),
        MachineSteps(
            "S3 while offline, local changes, signals, and intervals wait; the app's request does not",
            "declared a b: push all; pushed: pulling a, pull a b; pulled a network b network: offline1 0.75, offline",
            "local: pushDelay 0.2, offline; pushDelay: offline; signal a: signal1 1.0, offline; interval1: offline",
            "requested: push all; pushed: pulling a, pull a b; pulled: interval1 60.0, interval2 60.0, idle",
            "offline1: idle"),
        MachineSteps(
            "S3 a new network starts over at once; reports that keep coming do so once in a delay",
            "declared a: push all; pushed network: offline1 0.75, offline; offline1: push all",
            "pushed network: offline2 1.5, offline; network lost: offline; network: network 1.0, push all",
            "pushed network: offline3 0.75, offline; network: offline; network: offline; offline2: offline",
            "networkTimer: network 1.0, push all; pushed: pulling a, pull a; pulled: interval1 60.0, idle",
            "networkTimer: idle",
            // A report without news changes nothing.
            "network: idle; network lost: idle; network: network 1.0, push all"),
        MachineSteps(
            "P13 S5 after a delay that the server asks for in a push, all pulls come first, unless they failed before",
            retryAfter: .seconds(70),
            "declared a low!-1: push all; pushed network: offline1 70.0, offline; offline1: pulling a, pull a",
            "pulled: interval1 60.0, pulling low, pull low; pulled: interval2 60.0, push all",
            "pushed network: offline2 70.0, offline; interval1: offline; interval2: offline",
            "offline2: pulling a, pull a; pulled a network: offline3 70.0, offline; offline3: push all"),
        MachineSteps(
            "P13 a delay that the server asks for ends the round, also beside a pull that succeeds",
            retryAfter: .seconds(20),
            "declared a b low!-1: push all; pushed: pulling a, pull a b",
            "pulled b network: interval1 60.0, offline1 20.0, offline; offline1: push; pushed: pulling b, pull b",
            "pulled: interval2 60.0, pulling low, pull low"),
    ]

    static let tables: [MachineSteps] = [
        MachineSteps(
            "S4 a failure of one subscription is shown, and the others continue",
            "declared a b: push all; pushed: pulling a, pull a b",
            "pulled b rejected: interval1 60.0, pullRetry2 0.75, failing rejected; interval1: push",
            "pushed: pulling a, pull a; pulled: interval1 60.0, failing rejected; signal b: failing rejected",
            "pullRetry2: push; pushed: pulling b, pull b; pulled b rejected: pullRetry2 1.5, failing rejected",
            "pullRetry2: push; pushed: pulling b, pull b; pulled: interval2 60.0, idle"),
        MachineSteps(
            "T3 S4 an answer that need not be the server's fails its table alone, but only if another table is pulled",
            "declared a b: push all; pushed: pulling a, pull a b",
            "pulled a network b network doubtful: offline1 0.75, offline; offline1: push; pushed: pulling a, pull a b",
            "pulled b network doubtful: interval1 60.0, pullRetry2 0.75, failing rejected; pullRetry2: push",
            "pushed: pulling b, pull b; pulled b network doubtful: pullRetry2 1.5, failing rejected"),
        MachineSteps(
            "S5 a table that is not available fails alone, whatever its priority, once anything was answered",
            "declared a low!-1: push all; pushed: pulling a, pull a; pulled a network: pulling low, pull low",
            "pulled: interval2 60.0, pullRetry1 0.75, failing network",
            // A failure of its retry is nothing new, and local changes do not wait.
            "pullRetry1: push; pushed: pulling a, pull a; pulled a network: pullRetry1 1.5, failing network",
            "local: pushDelay 0.2, failing network; pushDelay: push; pushed answered: failing network; interval2: push",
            "pushed: pulling low, pull low; pulled low network: offline1 0.75, offline; offline1: push",
            "pushed answered: pulling low, pull low; pulled low network: pullRetry2 0.75, offline; pullRetry1: push",
            "pushed: pulling a, pull a; pulled: interval1 60.0, failing network"),
        MachineSteps(
            "S5 of several tables that are not available, each is tried in turn with one request more",
            "declared a b!-1 c!-2 d!-3: push all; pushed: pulling a, pull a; pulled a network: pulling b, pull b",
            "pulled b network: offline1 0.75, offline; offline1: push; pushed: pulling a, pull a",
            "pulled a network: pulling c, pull c; pulled: interval3 60.0, pullRetry1 0.75, pulling b, pull b",
            "pulled b network: pullRetry2 0.75, pulling d, pull d; pulled: interval4 60.0, failing network"),
    ]

    private static let failing = "failing completedWithErrors"

    /// Repeats steps with each of the delays.
    private static func retries(_ range: Range<Int>, _ steps: String) -> String {
        delays[range].map { steps.replacing("DELAY", with: "\($0)") }.joined(separator: "; ")
    }

    static let operations: [MachineSteps] = [
        MachineSteps(
            "S5 an operation that fails on the server is retried with growing delays, and then no more",
            "declared: push all",
            retries(
                0..<4,
                "pushed failed 1: pushRetry DELAY, \(failing); local: pushDelay 0.2, \(failing); pushDelay: push; "
                    + "pushed unresolved 1: \(failing); pushRetry: push failed"),
            "pushed failed 1: attention 1; requested: push all; pushed: idle"),
        MachineSteps(
            "S5 an operation that has changed since it failed on the server is retried as often as a new one",
            "declared: push all",
            retries(0..<4, "pushed failed 1: pushRetry DELAY, \(failing); pushRetry: push failed"),
            "pushed failed 1: attention 1; local: pushDelay 0.2, attention 1; pushDelay: push",
            "pushed changed 1: pushRetry 12.0, \(failing); pushRetry: push failed",
            retries(5..<8, "pushed failed 1: pushRetry DELAY, \(failing); pushRetry: push failed"),
            "pushed failed 1: attention 1; local: pushDelay 0.2, attention 1; pushDelay: push"),
        MachineSteps(
            "S4 S5 an operation that is never delivered is shown as long as it is sent again, and not as in step",
            "declared: push all",
            retries(0..<6, "pushed delayed 1 2: pushRetry DELAY, \(failing); pushRetry: push failed"),
            "pushed unresolved 2 3: pushRetry 48.0, attention 1; pushRetry: push failed",
            "pushed unresolved 3: attention 1"),
        MachineSteps(
            "Q5 S5 operations that end a push although others were answered hold back no pull and no new change",
            "declared a: push all; pushed network answered: pushRetry 0.75, pulling a, pull a",
            "pulled: interval1 60.0, failing network; local: pushDelay 0.2, failing network; pushDelay: push all",
            "pushed network answered: failing network; pushRetry: push all; pushed: idle; interval1: push",
            "pushed network answered: pushRetry 0.75, pulling a, pull a",
            // The network was lost during the push.
            "pulled a network: offline1 0.75, offline"),
        MachineSteps(
            "S5 an operation that the server rejects is shown and not sent again until the app asks",
            "declared a: push all; pushed unresolved 1: pulling a, pull a; pulled: interval1 60.0, attention 1",
            "interval1: push; pushed unresolved 1: pulling a, pull a; pulled: interval1 60.0, attention 1",
            "requested: push all; pushed: pulling a, pull a; pulled: idle"),
        MachineSteps(
            "S5 while the server fails for all operations, pushes wait and pulls continue",
            "declared a: push all; pushed serverFailing: pushRetry 0.75, pulling a, pull a",
            "pulled: interval1 60.0, failing serverFailing; local: pushDelay 0.2, failing serverFailing",
            "pushDelay: failing serverFailing; interval1: pulling a, pull a",
            "pulled: interval1 60.0, failing serverFailing; pushRetry: push failed; pushed: idle"),
        MachineSteps(
            "S9 what a push that the store or the delegate ended should have sent is in the next one",
            "declared: push all; pushed store: pushRetry 0.75, failing store; pushRetry: push all",
            "pushed cancelled: idle; local: pushDelay 0.2, idle; pushDelay: push all",
            // The delegate has cancelled it because of an answer.
            "pushed cancelled answered: idle; local: pushDelay 0.2, idle; pushDelay: push; pushed: idle"),
        MachineSteps(
            "S4 no pull follows a cancellation without a reason at once",
            "declared a: push all; pushed cancelled: pulling a, pull a",
            "pulled a cancelled: pullRetry1 0.75, failing cancelled"),
    ]

    static let users: [MachineSteps] = [
        MachineSteps(
            "S4 a sign-in is needed until the app signs in or asks for a sync, and nothing is lost meanwhile",
            "declared a: push all; pushed authentication: signIn1 300.0, sign in; local: pushDelay 0.2, sign in",
            "pushDelay: sign in; network lost: sign in; signedIn: push all; pushed: pulling a, pull a",
            "pulled a authentication: signIn2 300.0, sign in; signIn1: sign in; signIn2: push",
            "pushed authentication: signIn3 300.0, sign in; network: network 1.0, push all",
            "pushed authentication: signIn4 300.0, sign in; requested: push all; pushed: pulling a, pull a",
            "pulled: interval1 60.0, idle; signedIn: idle"),
        MachineSteps(
            "S4 a sign-in during a push or pull that fails repeats the round once",
            "declared a: push all; signedIn: nothing; pushed authentication: push all",
            "pushed authentication: signIn1 300.0, sign in; signedIn: push all; pushed: pulling a, pull a",
            "signedIn: nothing; pulled a authentication: push; signedIn: nothing",
            // The pull has the new token.
            "pushed: pulling a, pull a; pulled a authentication: signIn2 300.0, sign in"),
        MachineSteps(
            "S8 a sign-in ends the wait of everything that failed because another user was signed in",
            "declared a b: push all; pushed otherUser: pushRetry 0.75, pulling a, pull a b",
            "pulled a otherUser b cancelled: pullRetry1 0.75, pullRetry2 0.75, failing otherUser",
            "local: pushDelay 0.2, failing otherUser; pushDelay: failing otherUser; signedIn: push all",
            "pushed: pulling a, pull a b; pulled: interval1 60.0, interval2 60.0, idle; pullRetry1: idle",
            "signedIn: idle"),
        MachineSteps(
            "S8 a push or pull of an earlier user that a sign-in ended is repeated once",
            "declared a b: push all; signedIn: nothing; pushed otherUser: pulling a, pull a b; signedIn: nothing",
            "pulled a otherUser b cancelled: push all; pushed: pulling a, pull a b",
            "pulled a otherUser b cancelled: pullRetry1 0.75, pullRetry2 0.75, failing otherUser"),
    ]

    @Test(
        "S3, S4, S5, S8, P13, Q5, T3 a failure delays what it must, and nothing else",
        arguments: retryAfter + network + tables + operations + users)
    func plays(_ run: MachineSteps) { run.play() }

    @Test("S3 the delays have no effect on the time, and the time none on the delays")
    func clockJumps() {
        var script = MachineScript()
        for (event, ticks) in [("declared a", Int64(0)), ("pushed", -1_000_000_000_000), ("pulled", .max)] {
            script.now = Timestamp(clampingTicks: ticks)
            _ = script.handle(event)
        }
        script.now = Timestamp(clampingTicks: .min)
        #expect(script.handle("interval1") == "push")
        #expect(script.handle("pushed network") == "offline1 0.75, offline")
        script.now = .max
        #expect(script.handle("offline1") == "push")
    }
}
