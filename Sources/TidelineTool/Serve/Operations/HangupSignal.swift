#if Serve
internal import Dispatch
internal import Foundation

/// Calls a closure each time the process receives SIGHUP, until the object is released.
final class HangupSignal {
    private let source: any DispatchSourceSignal

    init(_ body: @escaping @Sendable () -> Void) {
        // The signal must not end the process.
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler(handler: body)
        source.resume()
    }

    deinit { source.cancel() }
}
#endif
