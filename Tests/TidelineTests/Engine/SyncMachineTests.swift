import Testing

/// The decisions of a sync that runs itself, event by event: rounds of pushes and pulls, and the server's signals.
@Suite("Sync machine")
struct SyncMachineTests {
    static let rounds: [MachineSteps] = [
        MachineSteps(
            "S1 the start pushes and pulls, and each interval pulls",
            "declared a: push all; pushed: pulling a, pull a; pulled: interval1 60.0, idle; interval1: push",
            "pushed: pulling a, pull a; pulled: interval1 60.0, idle"),
        MachineSteps(
            "S1 a sync without subscriptions only pushes",
            "declared: push all; pushed: idle; local: pushDelay 0.2, idle"),
        MachineSteps(
            "S1 local changes are pushed when none has come for the delay, and at the latest after five delays",
            "declared: push all; pushed: idle; local: pushDelay 0.2, idle; local: idle; local: idle",
            "pushDelay: pushDelay 0.2, idle; pushDelay: push; pushed: idle",
            // Changes that keep coming.
            "local: pushDelay 0.2, idle; local: idle; pushDelay: pushDelay 0.2, idle; local: idle",
            "pushDelay: pushDelay 0.2, idle; local: idle; pushDelay: pushDelay 0.2, idle; local: idle",
            "pushDelay: pushDelay 0.2, idle; local: idle; pushDelay: push"),
        MachineSteps(
            "S2 triggers during a round are folded into one more",
            "declared a: push all; requested: nothing; signal a: signal1 1.0; local: pushDelay 0.2; pushDelay: nothing",
            "pushed: pulling a, pull a; requested: nothing; requested: nothing; signal a: nothing",
            "pulled: interval1 60.0, push all; pushed: pulling a, pull a; pulled: idle"),
        MachineSteps(
            "S2 subscriptions are pulled in order of priority, equal ones together",
            "declared low!-1 a high!5 b: push all; pushed: pulling high, pull high",
            "pulled: interval3 60.0, pulling a, pull a b",
            "pulled: interval2 60.0, interval4 60.0, pulling low, pull low; pulled: interval1 60.0, idle"),
        MachineSteps(
            "S2 a subscription with many signals does not hold back those with a lower priority",
            "declared high!1 low: push all; pushed: pulling high, pull high; signal high: signal1 1.0",
            "pulled: interval1 60.0, pulling low, pull low; pulled: interval2 60.0, push",
            "pushed: pulling high, pull high"),
        MachineSteps(
            "S2 local changes that keep coming during pushes do not hold back the pulls",
            "declared high!1 low: push all; local: pushDelay 0.2; pushDelay: nothing; pushed: pulling high, pull high",
            "pulled: interval1 60.0, push; local: pushDelay 0.2; pushDelay: nothing; pushed: pulling low, pull low",
            "pulled: interval2 60.0, push; pushed: idle"),
        MachineSteps(
            "S2 a new subscription is pulled at once, the others keep their intervals",
            "declared a: push all; pushed: pulling a, pull a; pulled: interval1 60.0, idle; declared a b: push",
            "pushed: pulling b, pull b; pulled: interval2 60.0, idle; declared b: idle; interval1: idle"),
        MachineSteps(
            "S2 a changed interval begins at once, and the timer of the earlier one has no effect",
            "declared a=nil: push all; pushed: pulling a, pull a; pulled: idle",
            "declared a=3600: interval1#1 3600.0, idle; declared a=10: interval1#2 10.0, idle; declared: idle",
            "interval1#1: idle; interval1#2: push",
            "pushed: pulling a, pull a; pulled: interval1#2 10.0, idle; declared a=nil: idle; interval1#2: idle"),
    ]

    static let signals: [MachineSteps] = [
        MachineSteps(
            "S1 change signals that end are asked for again, with increasing delays and without a pull",
            hasSignals: true,
            "declared: listen1, signalsWork1 60.0, push all; pushed: idle; ended1: signalRetry1 0.75, idle",
            "ended1: idle; signalsWork1: idle; signalRetry1: listen2, signalsWork2 60.0, idle; signalRetry1: idle",
            "ended2: signalRetry2 1.5, idle; signalRetry2: listen3, signalsWork3 60.0, idle",
            "ended3: signalRetry3 3.0, idle",
            // A request, or a network that becomes available, ends the wait.
            "requested: listen4, signalsWork4 60.0, push all; pushed: idle; signalRetry3: idle",
            "ended4: signalRetry4 0.75, idle"),
        MachineSteps(
            "S1 after change signals that had worked, the changes in the meantime are pulled once", hasSignals: true,
            "declared a: listen1, signalsWork1 60.0, push all; pushed: pulling a, pull a; pulled: interval1 60.0, idle",
            "signalsWork1: idle; ended1: signalRetry1 0.75, push; pushed: pulling a, pull a; pulled: idle",
            "signalRetry1: listen2, signalsWork2 60.0, idle; ended2: signalRetry2 1.5, idle"),
        MachineSteps(
            "S1 change signals that continue where they ended need no pull", hasSignals: true,
            "declared a: listen1, signalsWork1 60.0, push all; pushed: pulling a, pull a; pulled: interval1 60.0, idle",
            "signalsWork1: idle; ended1 continues: signalRetry1 0.75, idle",
            "signalRetry1: listen2, signalsWork2 60.0, idle; ended2 continues: signalRetry2 1.5, idle"),
        MachineSteps(
            "S10 a server without change signals is asked again after an hour, a request of the app, and a new network",
            hasSignals: true,
            "declared: listen1, signalsWork1 60.0, push all; pushed: idle",
            "ended1 unsupported: signalRetry1 3600.0, idle; requested: listen2, signalsWork2 60.0, push all",
            "pushed: idle; ended2 unsupported: signalRetry2 3600.0, idle; network no: idle",
            "network: network 1.0, listen3, signalsWork3 60.0, push all; pushed: idle",
            "ended3 unsupported: signalRetry3 3600.0, idle; signalRetry1: idle",
            "signalRetry3: listen4, signalsWork4 60.0, idle; networkTimer: idle",
            // Another network, without a report that there was none.
            "ended4 unsupported: signalRetry4 3600.0, idle",
            "network: listen5, signalsWork5 60.0, idle; ended5: signalRetry5 0.75, idle",
            "network: network 1.0, listen6, signalsWork6 60.0, push; pushed: idle"),
        MachineSteps(
            "S3 change signals are asked for again at once when the server is reached, and not before it allows it",
            hasSignals: true, retryAfter: .seconds(20),
            "declared a: listen1, signalsWork1 60.0, push all; ended1: signalRetry1 20.0",
            "pushed network: offline1 20.0, offline; offline1: pulling a, pull a; pulled: interval1 60.0, push all",
            "pushed: listen2, signalsWork2 60.0, idle; signalRetry1: idle"),
        MachineSteps(
            "S4 without a sign-in, change signals are not asked for", hasSignals: true,
            "declared: listen1, signalsWork1 60.0, push all; ended1: signalRetry1 0.75",
            "pushed authentication: signIn1 300.0, sign in; signalRetry1: sign in",
            "signedIn: listen2, signalsWork2 60.0, push all"),
    ]

    @Test(
        "S1, S2, S3, S4, S10 a sync runs in rounds of a push and the pulls that are due, and listens to signals",
        arguments: rounds + signals)
    func plays(_ run: MachineSteps) { run.play() }
}
