/// Reports whether a network is available, so that a sync does not wait for its next retry.
///
/// Reports are hints. The sync also tries without a report, and a wrong report costs at most one round in each
/// ``SyncSettings/initialRetryDelay``.
public protocol ConnectivityMonitor: Sendable {
    /// Returns a sequence of reports: `true` each time a network becomes available or is replaced by another, `false`
    /// if there is none. It is called once for each run of a sync.
    func reports() -> AsyncStream<Bool>
}

#if canImport(Network)
internal import Dispatch
internal import Network

/// Reports the network paths of Apple platforms, with `NWPathMonitor`.
public struct NetworkPathMonitor: ConnectivityMonitor {
    /// Creates a monitor of all network interfaces.
    public init() {}

    public func reports() -> AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
            continuation.onTermination = { _ in monitor.cancel() }
            monitor.start(queue: DispatchQueue(label: "tideline.network"))
        }
    }
}
#endif
