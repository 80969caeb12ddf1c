internal import Synchronization
internal import TidelineStore

/// The lease of a running push. Of several processes that share a store, only the holder of the lease pushes.
///
/// The lease is a row of the config table. The push takes it in the transaction that claims its first operations,
/// renews it while it runs, and removes it in its last transaction. Once it has expired, as after the holder's process
/// was killed or suspended, others may take it. Each transaction of a push therefore first confirms that the push still
/// holds its lease.
final class PushLease: Sendable {
    private let tables: SystemTables
    private let environment: SyncEnvironment
    /// The name of the client. It is stored with the lease and compared only.
    private let holder: String
    private let duration: Duration
    private let state = Mutex(State())

    private struct State {
        /// The lease as this push stored it last, or `nil` before it is taken and after it is removed.
        var held: StoredLease?
        /// Whether others have taken the lease from this push.
        var isLost = false
        /// The lease of another process that may be taken although it has not expired.
        var abandoned: StoredLease?
    }

    private static let rowID = "pushLease"

    init(tables: SystemTables, environment: SyncEnvironment, holder: String, duration: Duration) {
        self.tables = tables
        self.environment = environment
        self.holder = holder
        self.duration = duration
    }

    /// The time between two renewals, of which two may fail before the lease expires.
    var renewalInterval: Duration { duration / 3 }

    /// Whether others have taken the lease from this push.
    var isLost: Bool { state.withLock { $0.isLost } }

    /// Whether the push holds the lease, as far as is known.
    var isHeld: Bool { held != nil }

    /// Whether the lease has not expired. If it has, others may have taken it.
    var isCurrent: Bool {
        let now = environment.now()
        return state.withLock { state in
            guard !state.isLost, let held = state.held else { return false }
            return held.renewed <= now && now < held.expires
        }
    }

    /// Whether it is time to renew the lease. It is, too, if the clock was set back, because others compare the stored
    /// times.
    var isDue: Bool {
        let now = environment.now()
        return state.withLock { state in
            guard let held = state.held else { return false }
            return now < held.renewed || now >= held.renewed.advanced(by: renewalInterval)
        }
    }

    // MARK: Transactions

    /// Takes the lease unless another process holds it.
    func take(in writer: some StoreWriter) throws -> Bool {
        if let other = try other(in: writer), other != state.withLock({ $0.abandoned }) { return false }
        try save(in: writer)
        return true
    }

    /// Returns whether the push still holds its lease, and renews it if it is time.
    func confirm(in writer: some StoreWriter) throws -> Bool {
        guard let held else { return !isLost }
        let stored = try stored(in: writer)
        guard stored == held || stored?.holder == holder else {
            state.withLock { state in
                state.held = nil
                state.isLost = true
            }
            return false
        }
        if isDue { try save(in: writer) }
        return true
    }

    /// Removes the lease, unless another process has taken it.
    func release(in writer: some StoreWriter) throws {
        guard isHeld, try confirm(in: writer) else { return }
        try writer.delete(id: Self.rowID, from: tables.config)
        state.withLock { $0.held = nil }
    }

    /// Continues to hold a lease whose removal was rolled back.
    func resume(_ held: StoredLease?) { state.withLock { if !$0.isLost { $0.held = held } } }

    /// The lease as this push stored it last.
    var held: StoredLease? { state.withLock { $0.held } }

    private func save(in writer: some StoreWriter) throws {
        let now = environment.now()
        let lease = StoredLease(holder: holder, renewed: now, expires: now.advanced(by: duration))
        try ConfigTable(tables).set(lease.text, of: Self.rowID, .lease, in: writer)
        state.withLock { $0.held = lease }
    }

    private func stored(in reader: some StoreReader) throws -> StoredLease? {
        try ConfigTable(tables).value(of: Self.rowID, in: reader).flatMap(StoredLease.init(text:))
    }

    // MARK: Others

    /// Returns the lease of another process that is pushing, or `nil` if there is none.
    func other(in reader: some StoreReader) throws -> StoredLease? {
        guard let stored = try stored(in: reader), stored.holder != holder, stored.isValid(at: environment.now())
        else { return nil }
        return stored
    }

    /// Allows to take this lease of another process, unless it is renewed, although it has not expired.
    func abandon(_ other: StoredLease) { state.withLock { $0.abandoned = other } }
}

extension SyncError {
    /// The error of a push that does not wait for that of another process.
    static var otherProcessPushes: SyncError {
        SyncError(
            .otherProcess, "another process that shares the local store is pushing; it sends the pending operations too"
        )
    }

    /// The error of a push whose lease was taken.
    static var leaseLost: SyncError {
        SyncError(
            .otherProcess,
            "the push was suspended for so long that another process took over; the pending operations are still in the "
                + "queue, and the other process sends them")
    }
}

/// A lease as it is stored.
struct StoredLease: Sendable, Hashable {
    /// The name of the client that holds the lease.
    var holder: String
    var renewed: Timestamp
    var expires: Timestamp

    /// The longest duration of a lease. A longer one is damaged.
    private static let maximumDuration = Duration.seconds(3600)

    /// Returns whether the lease is held at a time: it has not expired, and it was not renewed so far in the future
    /// that the clock must have been set back. Clocks differ less than that between two processes of a device.
    func isValid(at now: Timestamp) -> Bool {
        renewed < expires && expires <= renewed.advanced(by: Self.maximumDuration) && now < expires
            && renewed <= now.advanced(by: duration)
    }

    /// The time from the last renewal to the expiry.
    var duration: Duration { .nanoseconds(100) * (expires.ticks - renewed.ticks) }

    var text: String { "\(holder) \(renewed.ticks) \(expires.ticks)" }
}

extension StoredLease {
    /// Reads a stored lease. Returns `nil` for a damaged one, which holds nobody up.
    init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count >= 3, let renewed = Int64(parts[1]), let expires = Int64(parts[2]) else { return nil }
        self.init(
            holder: String(parts[0]), renewed: Timestamp(clampingTicks: renewed),
            expires: Timestamp(clampingTicks: expires))
    }
}

/// Measures how long the lease of another process was not renewed, without a clock: by the pauses of the process that
/// waits.
struct LeaseWait: Sendable {
    /// The pause between two looks at the lease.
    static let interval = Duration.milliseconds(250)

    private var seen: StoredLease?
    private var waited = Duration.zero

    /// Notes the lease as it is after one more pause.
    ///
    /// - Returns: Whether it is abandoned: it was not renewed for its whole duration.
    mutating func note(_ other: StoredLease) -> Bool {
        if other == seen {
            waited += Self.interval
        } else {
            (seen, waited) = (other, .zero)
        }
        return waited >= other.duration
    }
}
