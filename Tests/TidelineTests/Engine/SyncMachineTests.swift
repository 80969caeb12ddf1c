import Testing

@testable import Tideline

/// The decisions of a sync that runs itself, event by event: rounds of pushes and pulls.
@Suite("Sync machine")
struct SyncMachineTests {
    @Test("S1 the start pushes and pulls, and each interval pulls")
    func startAndIntervals() {
        expectActions([
            ("declared", "push all"), ("pushed", "pulling a; pull a"),
            ("pulled", "interval1 60.0; idle"), ("interval1", "push"), ("pushed", "pulling a; pull a"),
            ("pulled", "interval1 60.0; idle"),
        ])
    }

    @Test("S1 a sync without subscriptions only pushes")
    func onlyPushes() {
        expectActions(of: [], [("declared", "push all"), ("pushed", "idle"), ("local", "pushDelay 0.2; idle")])
    }

    @Test("S1 local changes are pushed when none has come for the delay, and at the latest after five delays")
    func debounce() {
        expectActions(
            of: [],
            [
                ("declared", "push all"), ("pushed", "idle"), ("local", "pushDelay 0.2; idle"), ("local", "idle"),
                ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"), ("pushDelay", "push"), ("pushed", "idle"),
                // Changes that keep coming.
                ("local", "pushDelay 0.2; idle"), ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"),
                ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"), ("local", "idle"),
                ("pushDelay", "pushDelay 0.2; idle"), ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"),
                ("local", "idle"), ("pushDelay", "push"),
            ])
    }

    @Test("S2 triggers during a round are folded into one more")
    func folding() {
        expectActions([
            ("declared", "push all"), ("requested", ""), ("signal a", "signal1 1.0"), ("local", "pushDelay 0.2"),
            ("pushDelay", ""), ("pushed", "pulling a; pull a"), ("requested", ""), ("requested", ""),
            ("signal a", ""), ("pulled", "interval1 60.0; push all"), ("pushed", "pulling a; pull a"),
            ("pulled", "idle"),
        ])
    }

    @Test("S2 subscriptions are pulled in order of priority, equal ones together")
    func priorities() {
        expectActions(
            of: [
                SyncSubscription("low", priority: -1), SyncSubscription("a"), SyncSubscription("high", priority: 5),
                SyncSubscription("b"),
            ],
            [
                ("declared", "push all"), ("pushed", "pulling high; pull high"),
                ("pulled", "interval3 60.0; pulling a; pull a b"),
                ("pulled", "interval2 60.0; interval4 60.0; pulling low; pull low"), ("pulled", "interval1 60.0; idle"),
            ])
    }

    @Test("S2 a subscription with many signals does not hold back those with a lower priority")
    func noStarvation() {
        expectActions(
            of: [SyncSubscription("high", priority: 1), SyncSubscription("low")],
            [
                ("declared", "push all"), ("pushed", "pulling high; pull high"), ("signal high", "signal1 1.0"),
                ("pulled", "interval1 60.0; pulling low; pull low"), ("pulled", "interval2 60.0; push"),
                ("pushed", "pulling high; pull high"),
            ])
    }

    @Test("S2 local changes that keep coming during pushes do not hold back the pulls")
    func changesDuringPushes() {
        expectActions(
            of: [SyncSubscription("high", priority: 1), SyncSubscription("low")],
            [
                ("declared", "push all"), ("local", "pushDelay 0.2"), ("pushDelay", ""),
                ("pushed", "pulling high; pull high"), ("pulled", "interval1 60.0; push"), ("local", "pushDelay 0.2"),
                ("pushDelay", ""), ("pushed", "pulling low; pull low"), ("pulled", "interval2 60.0; push"),
                ("pushed", "idle"),
            ])
    }

    @Test("S2 a new subscription is pulled at once, the others keep their intervals")
    func newSubscription() {
        var script = MachineScript([MachineScript.a])
        for event in ["declared", "pushed", "pulled"] { _ = script.handle(event) }
        script.subscriptions = MachineScript.pair
        #expect(script.handle("declared") == "push")
        #expect(script.handle("pushed") == "pulling b; pull b")
        #expect(script.handle("pulled") == "interval2 60.0; idle")
        script.subscriptions = [MachineScript.pair[1]]
        #expect(script.handle("declared") == "idle")
        #expect(script.handle("interval1") == "idle")
    }

    @Test("S2 a changed interval begins at once, and the timer of the earlier one has no effect")
    func changedInterval() {
        var script = MachineScript([SyncSubscription("a", interval: nil)])
        for event in ["declared", "pushed", "pulled"] { _ = script.handle(event) }
        script.subscriptions = [SyncSubscription("a", interval: .seconds(3_600))]
        #expect(script.handle("declared") == "interval1#1 3600.0; idle")
        script.subscriptions = [SyncSubscription("a", interval: .seconds(10))]
        #expect(script.handle("declared") == "interval1#2 10.0; idle")
        #expect(script.handle("declared") == "idle")
        #expect(script.handle("interval1#1") == "idle")
        #expect(script.handle("interval1#2") == "push")
        #expect(script.handle("pushed") == "pulling a; pull a")
        #expect(script.handle("pulled") == "interval1#2 10.0; idle")
        script.subscriptions = [SyncSubscription("a", interval: nil)]
        #expect(script.handle("declared") == "idle")
        #expect(script.handle("interval1#2") == "idle")
    }
}

/// The decisions of a sync that runs itself about the change signals of the server.
@Suite("Sync machine, change signals")
struct SyncMachineSignalTests {
    @Test("S1 change signals that end are asked for again, with increasing delays and without a pull")
    func endingSignals() {
        expectActions(
            of: [], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "idle"),
                ("ended1", "signalRetry1 0.75; idle"), ("ended1", "idle"), ("signalsWork1", "idle"),
                ("signalRetry1", "listen2; signalsWork2 60.0; idle"), ("signalRetry1", "idle"),
                ("ended2", "signalRetry2 1.5; idle"), ("signalRetry2", "listen3; signalsWork3 60.0; idle"),
                ("ended3", "signalRetry3 3.0; idle"),
                // A request, or a network that becomes available, ends the wait.
                ("requested", "listen4; signalsWork4 60.0; push all"), ("pushed", "idle"), ("signalRetry3", "idle"),
                ("ended4", "signalRetry4 0.75; idle"),
            ])
    }

    @Test("S1 after change signals that had worked, the changes in the meantime are pulled once")
    func lostSignals() {
        expectActions(
            hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"), ("signalsWork1", "idle"),
                ("ended1", "signalRetry1 0.75; push"), ("pushed", "pulling a; pull a"), ("pulled", "idle"),
                ("signalRetry1", "listen2; signalsWork2 60.0; idle"), ("ended2", "signalRetry2 1.5; idle"),
            ])
    }

    @Test("S1 change signals that continue where they ended need no pull")
    func continuedSignals() {
        expectActions(
            hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"), ("signalsWork1", "idle"),
                ("ended1 continues", "signalRetry1 0.75; idle"), ("signalRetry1", "listen2; signalsWork2 60.0; idle"),
                ("ended2 continues", "signalRetry2 1.5; idle"),
            ])
    }

    @Test("S10 a server without change signals is asked again after an hour, a request of the app, and a new network")
    func unsupportedSignals() {
        expectActions(
            of: [], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "idle"),
                ("ended1 unsupported", "signalRetry1 3600.0; idle"),
                ("requested", "listen2; signalsWork2 60.0; push all"), ("pushed", "idle"),
                ("ended2 unsupported", "signalRetry2 3600.0; idle"), ("network no", "idle"),
                ("network", "network 1.0; listen3; signalsWork3 60.0; push all"), ("pushed", "idle"),
                ("ended3 unsupported", "signalRetry3 3600.0; idle"), ("signalRetry1", "idle"),
                ("signalRetry3", "listen4; signalsWork4 60.0; idle"),
            ])
    }

    @Test("S3 change signals are asked for again at once when the server is reached again, and not before it allows it")
    func signalsAfterFailures() {
        expectActions(
            hasSignals: true, retryAfter: .seconds(20),
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("ended1", "signalRetry1 20.0"),
                ("pushed network", "offline1 20.0; offline"), ("offline1", "pulling a; pull a"),
                ("pulled", "interval1 60.0; push all"), ("pushed", "listen2; signalsWork2 60.0; idle"),
                ("signalRetry1", "idle"),
            ])
    }

    @Test("S4 without a sign-in, change signals are not asked for")
    func signalsWithoutSignIn() {
        expectActions(
            of: [], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("ended1", "signalRetry1 0.75"),
                ("pushed authentication", "signIn1 300.0; sign in"), ("signalRetry1", "sign in"),
                ("signedIn", "listen2; signalsWork2 60.0; push all"),
            ])
    }
}
