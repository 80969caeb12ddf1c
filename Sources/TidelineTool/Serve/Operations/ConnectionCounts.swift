internal import NIOCore
internal import Synchronization

/// The open connections of a server, in total and by address, and their limits.
final class ConnectionCounts: Sendable {
    private struct State {
        var open = 0
        var accepted = 0
        var refused = 0
        var byAddress: [String: Int] = [:]
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(limits: ServerLimits) { self.limits = limits }

    /// The numbers of connections that are open, were accepted, and were refused.
    var counts: (open: Int, accepted: Int, refused: Int) {
        state.withLock { ($0.open, $0.accepted, $0.refused) }
    }

    /// Counts a connection until it closes.
    /// - Returns: Whether it is within the limits.
    func admit(_ channel: any Channel) -> Bool {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let isAdmitted = state.withLock { state in
            let isFree =
                limits.maximumConnectionsPerAddress.map { state.byAddress[address, default: 0] < $0 } ?? true
            guard isFree, state.open < limits.maximumConnections else {
                state.refused += 1
                return false
            }
            state.open += 1
            state.accepted += 1
            if limits.maximumConnectionsPerAddress != nil { state.byAddress[address, default: 0] += 1 }
            return true
        }
        if isAdmitted { channel.closeFuture.whenComplete { _ in self.closed(address) } }
        return isAdmitted
    }

    private func closed(_ address: String) {
        state.withLock { state in
            state.open -= 1
            guard let count = state.byAddress[address] else { return }
            state.byAddress[address] = count > 1 ? count - 1 : nil
        }
    }
}
