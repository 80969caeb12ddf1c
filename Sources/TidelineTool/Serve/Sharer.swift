#if Serve
internal import NIOCore
internal import Synchronization
internal import TidelineServer

/// A connection as one that shares the threads and the memory of a server with the other connections of its user or
/// address, which share them with other users and addresses.
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
/// The part of a user or address is at most three times what it leaves free for others, and that of one connection at
/// most as much as it leaves free. Each of them can always use a minimum, and what it uses first, as far as there is
/// room for it. Beyond its part, a user or address can use something small for a connection that has nothing yet: many
/// may share an address.
final class SharedBudget: Sendable {
    /// The part of a budget that is reserved for one response, with the rest of it that was not written yet.
    ///
    /// A part whose client receives nothing is taken away if others need it.
    final class Part: Sendable {
        fileprivate let sharer: Sharer
        /// The size that is reserved, which the budget changes.
        fileprivate let size = Atomic(0)
        /// The time of the last progress. A response that is not held yet is no reason to take its part away.
        fileprivate let progress = Atomic(UInt64.max)
        private let held = Mutex<(rest: ArraySlice<UInt8>, abandon: @Sendable () -> Void)?>(nil)

        init(of sharer: Sharer) { self.sharer = sharer }

        /// Holds a response while its client receives it.
        ///
        /// - Parameter abandon: Called if the part is taken away. It must not call the budget.
        func hold(_ bytes: [UInt8], abandon: @escaping @Sendable () -> Void) {
            held.withLock { $0 = (bytes[...], abandon) }
            advance()
        }

        /// Removes and returns the next piece of the response, or returns `nil` if the part was taken away.
        func next(_ size: Int) -> (bytes: ByteBuffer, isLast: Bool)? {
            held.withLock { held in
                guard let rest = held?.rest else { return nil }
                let isLast = rest.count <= size
                held?.rest = isLast ? [] : rest.dropFirst(size)
                // A slice would keep all of the response in memory.
                return (ByteBuffer(bytes: rest.prefix(size)), isLast)
            }
        }

        /// Notes that the client has received something.
        func advance() { progress.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

        fileprivate var lastProgress: UInt64 { progress.load(ordering: .relaxed) }

        /// Frees the memory at once, and not when the thread of the connection has time for it.
        ///
        /// - Returns: The closure that ends the response.
        fileprivate func free() -> (@Sendable () -> Void)? {
            held.withLock { held in
                defer { held = nil }
                return held?.abandon
            }
        }
    }

    fileprivate struct State {
        var reserved = 0
        var byGroup: [Sharer.Group: Int] = [:]
        var byConnection: [Sharer: Int] = [:]
        var parts: [ObjectIdentifier: Part] = [:]
        /// A time before which no part had its last progress.
        var earliestProgress: UInt64 = 0
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

    /// Reserves a size for a part, instead of what it has, until it is released. Returns `false` if it is not
    /// available; the part has nothing then.
    func reserve(_ size: Int, for part: Part) -> Bool {
        guard size != part.size.load(ordering: .relaxed) else { return true }
        let (isReserved, abandoned) = state.withLock { state -> (Bool, [Part]) in
            state.remove(part)
            let abandoned = hasRoom(for: size, part.sharer, state) ? [] : makeRoom(for: size, part.sharer, &state)
            guard hasRoom(for: size, part.sharer, state) else { return (false, abandoned) }
            state.add(part, size)
            return (true, abandoned)
        }
        for part in abandoned { part.free()?() }
        return isReserved
    }

    func release(_ part: Part) {
        _ = part.free()
        if part.size.load(ordering: .relaxed) > 0 { state.withLock { $0.remove(part) } }
    }

    private func hasRoom(for size: Int, _ sharer: Sharer, _ state: State) -> Bool {
        let free = limit - state.reserved - size
        guard free >= 0 else { return false }
        func isWithin(_ share: Int, _ used: Int?) -> Bool { used.map { $0 + size <= max(share, minimum) } ?? true }
        let ofConnection = state.byConnection[sharer]
        let isSmall = ofConnection == nil && size <= minimum / 16
        return isWithin((isSmall ? 7 : 3) * free, state.byGroup[sharer.group]) && isWithin(free, ofConnection)
    }

    /// Removes parts without progress until there is room: those of the groups that use the most first, and the oldest
    /// of each. Removes more than one small part at once, because it looks at all of them.
    private func makeRoom(for size: Int, _ sharer: Sharer, _ state: inout State) -> [Part] {
        let now = NIODeadline.now()
        let end = (now - stallTimeout).uptimeNanoseconds
        guard state.earliestProgress < end else { return [] }
        let parts = state.parts.values.map { part in
            (part: part, progress: part.lastProgress, use: state.byGroup[part.sharer.group, default: 0])
        }
        let stalled = parts.filter { $0.progress < end }
            .sorted { $0.use == $1.use ? $0.progress < $1.progress : $0.use > $1.use }
        let enough = state.reserved - limit / 16
        var removed: [Part] = []
        for (part, _, _) in stalled where state.reserved > enough || !hasRoom(for: size, sharer, state) {
            state.remove(part)
            removed.append(part)
        }
        let others = parts.lazy.map(\.progress).filter { $0 >= end }.min() ?? .max
        state.earliestProgress = removed.count < stalled.count ? 0 : min(others, now.uptimeNanoseconds)
        return removed
    }
}

extension SharedBudget.State {
    fileprivate mutating func count(_ sharer: Sharer, by size: Int) {
        reserved += size
        let ofGroup = byGroup[sharer.group, default: 0] + size
        let ofConnection = byConnection[sharer, default: 0] + size
        byGroup[sharer.group] = ofGroup > 0 ? ofGroup : nil
        byConnection[sharer] = ofConnection > 0 ? ofConnection : nil
    }

    fileprivate mutating func add(_ part: SharedBudget.Part, _ size: Int) {
        parts[ObjectIdentifier(part)] = part
        part.size.store(size, ordering: .relaxed)
        count(part.sharer, by: size)
    }

    /// Removes a part, unless it was removed before.
    fileprivate mutating func remove(_ part: SharedBudget.Part) {
        guard parts.removeValue(forKey: ObjectIdentifier(part)) != nil else { return }
        count(part.sharer, by: -part.size.exchange(0, ordering: .relaxed))
    }
}
#endif
