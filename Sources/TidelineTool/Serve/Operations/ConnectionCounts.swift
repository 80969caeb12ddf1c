internal import Metrics
internal import NIOCore
internal import Synchronization

/// The open connections of a server, in total and by address, and their limits.
final class ConnectionCounts: Sendable {
    private struct State {
        var open = 0
        var byAddress: [String: Int] = [:]
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    private let open: Meter
    private let accepted: Counter
    private let refused: Counter

    /// - Parameter factory: Where the numbers of connections are recorded.
    init(limits: ServerLimits, factory: any MetricsFactory = NOOPMetricsHandler.instance) {
        self.limits = limits
        open = Meter(label: "tideline_connections", factory: factory)
        accepted = Counter(label: "tideline_connections_total", factory: factory)
        refused = Counter(label: "tideline_connections_refused_total", factory: factory)
    }

    /// Counts a connection until it closes.
    /// - Returns: Whether it is within the limits.
    func admit(_ channel: any Channel) -> Bool {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let isAdmitted = state.withLock { state in
            let isFree =
                limits.maximumConnectionsPerAddress.map { state.byAddress[address, default: 0] < $0 } ?? true
            guard isFree, state.open < limits.maximumConnections else { return false }
            state.open += 1
            if limits.maximumConnectionsPerAddress != nil { state.byAddress[address, default: 0] += 1 }
            return true
        }
        guard isAdmitted else {
            refused.increment()
            return false
        }
        accepted.increment()
        open.increment()
        channel.closeFuture.whenComplete { _ in self.closed(address) }
        return true
    }

    private func closed(_ address: String) {
        open.decrement()
        state.withLock { state in
            state.open -= 1
            guard let count = state.byAddress[address] else { return }
            state.byAddress[address] = count > 1 ? count - 1 : nil
        }
    }
}
