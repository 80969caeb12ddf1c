import Testing

@testable import Tideline

/// The decisions of a sync that runs itself, event by event: rounds of pushes and pulls.
@Suite("Sync machine")
struct SyncMachineTests {
    @Test("S1 the start pushes and pulls, and each interval pulls")
    func startAndIntervals() {
        expectActions(
            [MachineScript.a],
            [
                ("declared", "push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"), ("interval1", "push"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"),
            ])
    }

    @Test("S1 a sync without subscriptions only pushes")
    func onlyPushes() {
        expectActions([], [("declared", "push all"), ("pushed", "idle"), ("local", "pushDelay 0.2; idle")])
    }

    @Test("S1 local changes are pushed when none has come for the delay, and at the latest after five delays")
    func debounce() {
        expectActions(
            [],
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
        expectActions(
            [MachineScript.a],
            [
                ("declared", "push all"), ("requested", ""), ("signal a", "signal1 1.0"), ("local", "pushDelay 0.2"),
                ("pushDelay", ""), ("pushed", "pulling a; pull a"), ("requested", ""), ("requested", ""),
                ("signal a", ""), ("pulled", "interval1 60.0; push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "idle"),
            ])
    }

    @Test("S2 subscriptions are pulled in order of priority, equal ones together")
    func priorities() {
        expectActions(
            [
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
            [SyncSubscription("high", priority: 1), SyncSubscription("low")],
            [
                ("declared", "push all"), ("pushed", "pulling high; pull high"), ("signal high", "signal1 1.0"),
                ("pulled", "interval1 60.0; pulling low; pull low"), ("pulled", "interval2 60.0; push"),
                ("pushed", "pulling high; pull high"),
            ])
    }

    @Test("S2 local changes that keep coming during pushes do not hold back the pulls")
    func changesDuringPushes() {
        expectActions(
            [SyncSubscription("high", priority: 1), SyncSubscription("low")],
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
