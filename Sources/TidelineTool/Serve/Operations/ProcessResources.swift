#if Serve
internal import Dispatch
internal import Foundation

/// The limit on the files of the process, of which each connection is one.
enum OpenFiles {
    /// The number of files for the store, the logs, and requests to an identity provider.
    private static let reserve = 256

    /// Raises the limit for a number of connections, as far as the system permits.
    ///
    /// - Returns: The number of connections within the limit.
    static func allow(connections: Int) -> Int {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return connections }
        let wanted = rlim_t(connections + reserve)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur) - reserve
    }
}

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
