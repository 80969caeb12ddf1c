public import TidelineStore

/// Why a call of the sync core failed.
///
/// The ``code`` says what to do; the names say where. A store's own failure is kept as ``cause``, a `StoreError`.
public struct SyncError: Error, Sendable {
    /// What kind of failure this is.
    public var code: Code
    /// What happened and what to do, for a person.
    public var message: String
    /// The table at fault.
    public var table: String?
    /// The column at fault.
    public var column: String?
    /// The id of the row at fault.
    public var id: String?
    /// The HTTP status of the server's answer.
    public var status: Int?
    /// The server's row in a conflict; nil when it cannot be had.
    public var serverItem: Row?
    /// With code ``Code/rowChanged``: the row that the call was given.
    public var givenRow: Row?
    /// With code ``Code/rowChanged``: the row as the local table has it.
    public var storedRow: Row?
    /// The failures of single operations in a push, also when the push was aborted after them.
    public var operationErrors: [TableOperationError]
    /// The error below: a `StoreError`, ``TransportError``, `WireError`, or one thrown by the delegate.
    public var cause: (any Error)?

    /// A failure with a code, a message, and the names that apply.
    public init(
        _ code: Code, _ message: String, table: String? = nil, column: String? = nil, id: String? = nil,
        status: Int? = nil, serverItem: Row? = nil, operationErrors: [TableOperationError] = [],
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.table = table
        self.column = column
        self.id = id
        self.status = status
        self.serverItem = serverItem
        self.operationErrors = operationErrors
        self.cause = cause
    }

    /// The kinds of failure; open, so that a later version can add one.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// The server was not reached, or asked to be left alone (408, 429, 503) to the last try. Try again later.
        public static let network = Code(rawValue: "network")
        /// The server answered 401, also to a refreshed token. Sign in again.
        public static let authentication = Code(rawValue: "authentication")
        /// The local store failed; see ``SyncError/cause``.
        public static let store = Code(rawValue: "store")
        /// The task or the push was cancelled. What was not sent stays in the queue.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The push reached every operation, but some failed; see ``SyncError/operationErrors``.
        public static let completedWithErrors = Code(rawValue: "completedWithErrors")
        /// Three operations in a row failed for the server's own reasons (500, 502, 504). Try again later.
        public static let serverFailing = Code(rawValue: "serverFailing")
        /// The server failed (500, 502, 504) to the last try of a pull or of a direct request. Try again later.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// The server's row is not the one that a direct request expects: it has another version, or is there already.
        /// See ``SyncError/serverItem``.
        public static let conflict = Code(rawValue: "conflict")
        /// The server refused the request; see ``SyncError/status``.
        public static let rejected = Code(rawValue: "rejected")
        /// The server's answer cannot be read or a row of it cannot be stored.
        public static let invalidAnswer = Code(rawValue: "invalidAnswer")
        /// An argument, row or query is wrong. Fix the program.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The row exists already, in the table or in the queue.
        public static let rowExists = Code(rawValue: "rowExists")
        /// The local table has no such row.
        public static let noSuchRow = Code(rawValue: "noSuchRow")
        /// The row given to an update or delete has another version than the stored one: it was read before a change by
        /// others. See ``SyncError/givenRow`` and ``SyncError/storedRow``.
        public static let rowChanged = Code(rawValue: "rowChanged")
        /// The table has operations waiting to be pushed. Push first, or use `forcePurge`.
        public static let operationsPending = Code(rawValue: "operationsPending")
        /// An operation of the table is on its way to the server. Wait for the push to end.
        public static let operationInFlight = Code(rawValue: "operationInFlight")
        /// The operation has changed since the error arose; nothing was resolved. Look at it again.
        public static let operationChanged = Code(rawValue: "operationChanged")
        /// The store holds rows and pending operations of another server. Use ``SyncClient/switchServer(keepingPending:)``,
        /// ``SyncClient/wipe()`` or another store.
        public static let otherServer = Code(rawValue: "otherServer")
        /// The store holds rows and pending operations of another user. Use ``SyncClient/wipe()``,
        /// ``SyncClient/switchServer(keepingPending:)`` or another store.
        public static let otherUser = Code(rawValue: "otherUser")
        /// The query id was used with another filter before. Use another id, or reset the token.
        public static let filterChanged = Code(rawValue: "filterChanged")
        /// An incremental pull cannot go on: the server ignores the filter, or sends rows without `updatedAt`.
        public static let noProgress = Code(rawValue: "noProgress")
        /// The table was purged or its token reset while the pull ran. Pull again.
        public static let pullInterrupted = Code(rawValue: "pullInterrupted")
    }
}

extension SyncError: CustomStringConvertible {
    /// The message and all that is known, on one line, and a line for each failed operation.
    public var description: String {
        var place: [String] = [code.rawValue]
        if let status { place.append("HTTP \(status)") }
        if let table { place.append("table \(table.debugDescription)") }
        if let column { place.append("column \(column.debugDescription)") }
        if let id { place.append("id \(id.debugDescription)") }
        let lines = ["\(message) [\(place.joined(separator: ", "))]"] + operationErrors.map { "  \($0)" }
        return lines.joined(separator: "\n")
    }
}
