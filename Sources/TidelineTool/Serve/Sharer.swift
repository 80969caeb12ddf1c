#if Serve
internal import NIOCore
internal import Synchronization
internal import TidelineServer

/// A connection as one that shares the threads and the memory of a server with the other connections of its user or address, which
/// share them with other users and addresses.
struct Sharer: Hashable, Sendable {
    /// A user, or an address without a sign-in.
    enum Group: Hashable, Sendable {
        case user(String)
        case address(String)
    }

    let group: Group
    /// The other end of the connection: the client, or a proxy before the server.
    let connection: SocketAddress?

    init(group: Group, connection: SocketAddress? = nil) {
        self.group = group
        self.connection = connection
    }

    /// Creates the sharer of the requests of a connection without a sign-in.
    init(of connection: SocketAddress?) {
        self.init(group: .address(connection?.ipAddress ?? ""), connection: connection)
    }

    /// Returns the sharer of the requests of a user on the same connection.
    func signedIn(as caller: Caller) -> Sharer {
        caller.userID.map { Sharer(group: .user($0), connection: connection) } ?? self
    }

    /// The work of the server itself.
    static let server = Sharer(group: .address(""))
}

/// The sender of the request that the current task responds to.
enum CurrentSharer {
    @TaskLocal static var value = Sharer.server
}

/// The place of a client that waits for changes, which is free when the object is released.
final class WaitingPlace: Sendable {
    let sharer: Sharer
    private let places: SharedBudget

    /// Takes a place, or returns `nil` if there is none.
    init?(of sharer: Sharer, in places: SharedBudget) {
        // Before the properties have values, so that the place is not released.
        guard places.reserve(1, for: sharer) else { return nil }
        self.sharer = sharer
        self.places = places
    }

    deinit { places.release(1, for: sharer) }
}

/// The memory for the bodies of all requests in flight, or for all responses, or places of another kind.
///
/// The part of a user or address is at most three times what it leaves free for others, and that of one connection at most
/// as much as it leaves free. Each of them can always use a minimum, and what it uses first, as far as there is room for it. Beyond its
/// part, a user or address can use something small for a connection that has nothing yet: many may share an address.
final class SharedBudget: Sendable {
    /// The part of a budget that is reserved for one response.
    ///
    /// A part whose client receives nothing is taken away if others need it.
    final class Part: Sendable {
        let size: Int
        fileprivate let sharer: Sharer
        fileprivate let progress = Atomic(NIODeadline.now().uptimeNanoseconds)
        fileprivate let abandon: @Sendable () -> Void

        fileprivate init(_ size: Int, _ sharer: Sharer, abandon: @escaping @Sendable () -> Void) {
            self.size = size
            self.sharer = sharer
            self.abandon = abandon
        }

        /// Notes that the client has received something.
        func advance() { progress.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

        fileprivate var lastProgress: NIODeadline { .uptimeNanoseconds(progress.load(ordering: .relaxed)) }
    }

    fileprivate struct State {
        var reserved = 0
        var byGroup: [Sharer.Group: Int] = [:]
        var byConnection: [Sharer: Int] = [:]
        var parts: [ObjectIdentifier: Part] = [:]
    }

    private let limit: Int
    private let minimum: Int
    private let stallTimeout: TimeAmount
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: The size of the budget.
    ///   - minimum: What each connection can use.
    ///   - stallTimeout: The time without progress after which a part can be taken away.
    init(limit: Int, minimum: Int, stallTimeout: Duration = .seconds(1)) {
        self.limit = limit
        self.minimum = minimum
        self.stallTimeout = TimeAmount(stallTimeout)
    }

    /// Reserves a size until it is released. Returns `false` and reserves nothing if it is not available.
    func reserve(_ size: Int, for sharer: Sharer = .server) -> Bool {
        state.withLock { state in
            guard hasRoom(for: size, sharer, state) else { return false }
            state.count(sharer, by: size)
            return true
        }
    }

    func release(_ size: Int, for sharer: Sharer = .server) {
        guard size > 0 else { return }
        state.withLock { $0.count(sharer, by: -size) }
    }

    /// Reserves a part until it is released.
    ///
    /// - Parameter abandon: Called if the part is taken away. It must not call the budget.
    /// - Returns: `nil` if it is not available.
    func reservePart(
        _ size: Int, for sharer: Sharer, abandon: @escaping @Sendable () -> Void
    ) -> Part? {
        let (part, abandoned) = state.withLock { state -> (Part?, [Part]) in
            let abandoned = hasRoom(for: size, sharer, state) ? [] : makeRoom(for: size, sharer, &state)
            guard hasRoom(for: size, sharer, state) else { return (nil, abandoned) }
            let part = Part(size, sharer, abandon: abandon)
            state.parts[ObjectIdentifier(part)] = part
            state.count(sharer, by: size)
            return (part, abandoned)
        }
        for part in abandoned { part.abandon() }
        return part
    }

    func release(_ part: Part) { state.withLock { $0.remove(part) } }

    private func hasRoom(for size: Int, _ sharer: Sharer, _ state: State) -> Bool {
        let free = limit - state.reserved - size
        guard free >= 0 else { return false }
        func isWithin(_ share: Int, _ used: Int?) -> Bool { used.map { $0 + size <= max(share, minimum) } ?? true }
        let ofConnection = state.byConnection[sharer]
        let isSmall = ofConnection == nil && size <= minimum / 16
        return isWithin((isSmall ? 7 : 3) * free, state.byGroup[sharer.group]) && isWithin(free, ofConnection)
    }

    /// Removes parts without progress until there is room: those of the groups that use the most first, and the oldest of each.
    private func makeRoom(for size: Int, _ sharer: Sharer, _ state: inout State) -> [Part] {
        let end = NIODeadline.now() - stallTimeout
        let use = state.byGroup
        let stalled = state.parts.values.map { (part: $0, progress: $0.lastProgress) }.filter { $0.progress < end }
            .sorted {
                let (a, b) = (use[$0.part.sharer.group, default: 0], use[$1.part.sharer.group, default: 0])
                return a == b ? $0.progress < $1.progress : a > b
            }
        var removed: [Part] = []
        for (part, _) in stalled where !hasRoom(for: size, sharer, state) {
            state.remove(part)
            removed.append(part)
        }
        return removed
    }
}

extension SharedBudget.State {
    fileprivate mutating func count(_ sharer: Sharer, by size: Int) {
        reserved += size
        let (ofGroup, ofConnection) = (
            byGroup[sharer.group, default: 0] + size, byConnection[sharer, default: 0] + size
        )
        byGroup[sharer.group] = ofGroup > 0 ? ofGroup : nil
        byConnection[sharer] = ofConnection > 0 ? ofConnection : nil
    }

    /// Removes a part, unless it was removed before.
    fileprivate mutating func remove(_ part: SharedBudget.Part) {
        guard parts.removeValue(forKey: ObjectIdentifier(part)) != nil else { return }
        count(part.sharer, by: -part.size)
    }
}
#endif
