public import TidelineStore
internal import TidelineWire

/// An error thrown by the sync core.
///
/// The ``code`` indicates how to respond. The table, column, and id identify the data at fault. An error of the store,
/// a `StoreError`, is the ``cause``.
public struct SyncError: Error, Sendable {
    /// The kind of the failure.
    public var code: Code
    /// A description of the failure and what to do.
    public var message: String
    /// The table at fault.
    public var table: String?
    /// The column at fault.
    public var column: String?
    /// The identifier of the row at fault.
    public var id: String?
    /// The HTTP status of the server's response.
    public var status: Int?
    /// The delay that the server asked for before another request, or `nil` if it did not.
    public var retryAfter: Duration?
    /// The server row in a conflict, or `nil` if it cannot be read.
    public var serverItem: Row?
    /// For code ``Code/rowChanged``: the row passed to the call.
    public var givenRow: Row?
    /// For code ``Code/rowChanged``: the row in the local table.
    public var storedRow: Row?
    /// The errors of individual operations in a push, including a push that was aborted after them.
    public var operationErrors: [TableOperationError]
    /// Whether something else than the service gave the response.
    var isFromOther = false
    /// Whether the server asked for a longer delay than requests are retried after, so that nothing is sent before its
    /// end.
    var asksForPause = false
    /// Whether the service responded to other operations of the push.
    var isServiceThere = false
    /// Whether the operation in flight is that of another process, whose push can be waited for.
    var isInFlightElsewhere = false
    /// The underlying error: a `StoreError`, a ``TransportError``, a `WireError`, or an error thrown by the delegate.
    public var cause: (any Error)?

    /// Creates an error with a code, a message, and the names that apply.
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

    /// Whether a push ended because the server was not reached or not available for some operations, although the
    /// service responded to others.
    var isOfSomeOperations: Bool { code == .network && isServiceThere && !asksForPause }

    /// Whether the service gave a response.
    var isOfService: Bool { status != nil && !isFromOther }

    /// A kind of failure. The set is open so that later versions can add kinds.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// The server was not reached, something else answered in its place, or it asked to retry later on the last
        /// attempt. Try again later.
        public static let network = Code(rawValue: "network")
        /// The server does not accept the token, not even a refreshed one. Sign in again.
        public static let authentication = Code(rawValue: "authentication")
        /// The local store failed; see ``SyncError/cause``.
        public static let store = Code(rawValue: "store")
        /// The task or the push was cancelled. Operations that were not sent stay in the queue.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The push reached its end, but operations failed or are in conflict; see ``SyncError/operationErrors``.
        public static let completedWithErrors = Code(rawValue: "completedWithErrors")
        /// Three operations in a row failed because of server errors. Try again later.
        public static let serverFailing = Code(rawValue: "serverFailing")
        /// The server failed on the last attempt of a pull or a direct request. Try again later.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// A direct request conflicts with the server row: the row has a different version, or already exists. See
        /// ``SyncError/serverItem``.
        public static let conflict = Code(rawValue: "conflict")
        /// The server rejected the request; see ``SyncError/status``.
        public static let rejected = Code(rawValue: "rejected")
        /// The server's response cannot be read, or one of its rows cannot be stored.
        public static let invalidAnswer = Code(rawValue: "invalidAnswer")
        /// An argument, row, or query is invalid. Fix the program.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The row already exists, in the table or in the queue.
        public static let rowExists = Code(rawValue: "rowExists")
        /// The local table has no such row.
        public static let noSuchRow = Code(rawValue: "noSuchRow")
        /// The row passed to an update or delete has a different version than the stored row: it was read before a
        /// change by others. See ``SyncError/givenRow`` and ``SyncError/storedRow``.
        public static let rowChanged = Code(rawValue: "rowChanged")
        /// The table has pending operations. Push first, or use `forcePurge`.
        public static let operationsPending = Code(rawValue: "operationsPending")
        /// An operation of the table is in flight. Wait for the push to end.
        public static let operationInFlight = Code(rawValue: "operationInFlight")
        /// The operation has changed since the error occurred, and nothing was resolved. Fetch the error again.
        public static let operationChanged = Code(rawValue: "operationChanged")
        /// The store contains rows and pending operations of another server. Use
        /// ``SyncClient/switchServer(keepingPending:)``, ``SyncClient/wipe()``, or another store.
        public static let otherServer = Code(rawValue: "otherServer")
        /// The store contains rows and pending operations of another user. Use ``SyncClient/wipe()``,
        /// ``SyncClient/switchServer(keepingPending:)``, or another store.
        public static let otherUser = Code(rawValue: "otherUser")
        /// Another process that shares the local store is pushing, or has taken over this push after this process was
        /// suspended. It sends the pending operations. See ``PushSettings/whenOtherProcessPushes``.
        public static let otherProcess = Code(rawValue: "otherProcess")
        /// The query id was used with a different filter before. Use another id, or reset the token.
        public static let filterChanged = Code(rawValue: "filterChanged")
        /// An incremental pull cannot continue: the server ignores the filter, or returns rows without `updatedAt`.
        public static let noProgress = Code(rawValue: "noProgress")
        /// The table was purged or its token was reset during the pull. Pull again.
        public static let pullInterrupted = Code(rawValue: "pullInterrupted")
    }
}

extension SyncError: CustomStringConvertible {
    /// The message, code, status, and names on one line, followed by one line for each failed operation.
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

extension OperationFailure {
    /// Whether the server was not reached or not available, which ends by itself.
    var isOfNetwork: Bool { (cause as? SyncError)?.code == .network }
}

extension SyncError {
    /// Returns an error as a ``SyncError``. An error of another type becomes its cause.
    static func wrapping(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: return error
        case let error as StoreError where error.code == .cancelled:
            return SyncError(.cancelled, "the task was cancelled", table: error.table, cause: error)
        case let error as StoreError:
            return SyncError(
                .store, error.reason, table: error.table, column: error.column, id: error.id, cause: error)
        case let error as WireError:
            return SyncError(
                .invalidArgument, error.message, table: error.table, column: error.column, id: error.id, cause: error)
        case is CancellationError: return SyncError(.cancelled, "the task was cancelled")
        default: return SyncError(.store, "cannot read the local state: \(error)", cause: error)
        }
    }

    /// Runs a closure whose errors become ``SyncError``s.
    nonisolated(nonsending) static func wrappingErrors<T>(
        of body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch {
            throw wrapping(error)
        }
    }
}
