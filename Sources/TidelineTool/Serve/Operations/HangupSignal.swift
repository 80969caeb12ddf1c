#if Serve
internal import Dispatch
internal import Foundation

/// Calls a closure each time the process receives SIGHUP, until the object is released.
final class HangupSignal {
    private let source: any DispatchSourceSignal

    init(_ body: @escaping @Sendable () -> Void) {
        Self.ignore()
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler(handler: body)
        source.resume()
    }

    /// Keeps the signal from ending the process.
    static func ignore() { signal(SIGHUP, SIG_IGN) }

    deinit { source.cancel() }
}
#endif
