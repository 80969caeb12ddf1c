import Testing

@testable import Tideline

/// The decisions of a sync that runs itself about the change signals of the server.
@Suite("Sync machine, change signals")
struct SyncMachineSignalTests {
    @Test("S1 change signals that end are asked for again, with increasing delays and without a pull")
    func endingSignals() {
        expectActions(
            [], hasSignals: true,
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
            [MachineScript.a], hasSignals: true,
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
            [MachineScript.a], hasSignals: true,
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
            [], hasSignals: true,
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
            [MachineScript.a], hasSignals: true, retryAfter: .seconds(20),
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("ended1", "signalRetry1 20.0"),
                ("pushed network", "offline1 20.0; offline"), ("offline1", "push all"),
                ("pushed", "pulling a; pull a"), ("pulled", "interval1 60.0; listen2; signalsWork2 60.0; idle"),
                ("signalRetry1", "idle"),
            ])
    }

    @Test("S4 without a sign-in, change signals are not asked for")
    func signalsWithoutSignIn() {
        expectActions(
            [], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("ended1", "signalRetry1 0.75"),
                ("pushed authentication", "signIn1 300.0; sign in"), ("signalRetry1", "sign in"),
                ("signedIn", "listen2; signalsWork2 60.0; push all"),
            ])
    }
}
