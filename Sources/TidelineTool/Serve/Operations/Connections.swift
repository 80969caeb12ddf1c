#if Serve
internal import Metrics
internal import NIOCore
internal import Synchronization

/// The open connections of a server, and their limits.
final class Connections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var byAddress: [String: Int] = [:]
        /// Kept when the server has stopped and no connection is open.
        var end: EventLoopPromise<Void>?
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    private let open: Meter
    private let accepted: Counter
    private let refused: Counter

    /// - Parameter factory: Where the numbers of connections are recorded.
    init(limits: ServerLimits, factory: any MetricsFactory) {
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
            guard isFree, state.open.count < limits.maximumConnections, state.end == nil else { return false }
            state.open[ObjectIdentifier(channel)] = channel
            if limits.maximumConnectionsPerAddress != nil { state.byAddress[address, default: 0] += 1 }
            return true
        }
        guard isAdmitted else {
            refused.increment()
            return false
        }
        accepted.increment()
        open.increment()
        channel.closeFuture.whenComplete { [id = ObjectIdentifier(channel)] _ in self.closed(id, address) }
        return true
    }

    private func closed(_ id: ObjectIdentifier, _ address: String) {
        open.decrement()
        let end = state.withLock { state in
            state.open[id] = nil
            if let count = state.byAddress[address] { state.byAddress[address] = count > 1 ? count - 1 : nil }
            return state.open.isEmpty ? state.end : nil
        }
        end?.succeed()
    }

    /// Whether the server has stopped.
    var isStopped: Bool { state.withLock { $0.end != nil } }

    /// Admits no further connection, and lets each one close after the responses that are due.
    /// - Returns: A future that succeeds when all are closed.
    func stop(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let end = loop.makePromise(of: Void.self)
        let open = state.withLock { state in
            state.end = end
            return Array(state.open.values)
        }
        for channel in open { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
        if open.isEmpty { end.succeed() }
        return end.futureResult
    }

    /// Closes all connections at once.
    func close() {
        for channel in state.withLock({ Array($0.open.values) }) { channel.close(promise: nil) }
    }
}
#endif
