public import TidelineStore

/// A change of one row that is waiting to be pushed.
///
/// An operation does not store the row, except for a delete. A push sends the row as it is in the local table when the
/// push reaches the operation.
public struct TableOperation: Sendable, Identifiable {
    /// The number of the operation. Numbers increase and are never reused.
    public let id: Int64
    /// The table of the row.
    public let table: String
    /// The identifier of the row, in the case in which it was first stored.
    public let itemID: String
    /// The kind of change to the row.
    public internal(set) var kind: OperationKind
    /// The number of attempts, each counted before its request is sent.
    ///
    /// Each push counts as one attempt, and so does each further request that builds on an earlier attempt of this
    /// operation. Retries after a transient response do not count.
    public internal(set) var attempts: Int64 = 0
    /// The message of the last failure, or `nil` if the operation has not failed since it last changed.
    public internal(set) var lastError: String?
    /// The base version: the version of the row that was changed, or `nil` if there was none.
    public internal(set) var baseVersion: String?

    /// The row in the local table, or the deleted row for a delete; `nil` if there is no row or the table is not
    /// defined.
    public internal(set) var item: Row?

    /// The key: the identifier in the form in which the table compares it.
    let itemKey: String
    /// The content of a deleted row, as JSON.
    var deletedItem: String?
    /// The base row: the server's row that was changed, as JSON. Only the oldest operation of a row has one.
    var base: String? { didSet { localBase = nil } }
    /// The base row as ``SyncTransaction/rewrite(_:_:)`` changed it, as JSON, or `nil` if it did not. The local row is
    /// compared with it, and the server's rows with ``base``.
    var localBase: String?
    /// The row as received by a later pull, as JSON.
    ///
    /// It does not replace the base row. Otherwise the next push would treat the changes of others as the app's own and
    /// undo them.
    var pulled: String?
    /// The request bodies that the server may or may not have applied, as JSON, oldest first; see
    /// ``note(sent:columns:)``.
    var sent: [String] = []
    /// Whether this update restores a deleted row.
    var restores = false
    /// A counter that increases with every change to the operation or its row. Responses and resolutions compare it.
    var revision: Int64 = 0

    init(id: Int64, table: String, itemID: String, itemKey: String, kind: OperationKind) {
        self.id = id
        self.table = table
        self.itemID = itemID
        self.itemKey = itemKey
        self.kind = kind
    }

    /// The maximum number of stored bodies, not counting bodies that are the only ones to name a column.
    static let maximumSent = 8

    /// Stores a body that is about to be sent.
    ///
    /// Beyond ``maximumSent``, the oldest body whose columns are all named by other bodies is removed. A column that a
    /// body may have written must be cleared by a later request unless the body is known not to have been applied.
    ///
    /// - Parameter columns: Returns the columns that a body names.
    /// - Returns: Whether the body was not stored before.
    mutating func note(sent body: String, columns: (String) throws -> Set<String>) rethrows -> Bool {
        guard !sent.contains(body) else { return false }
        sent.append(body)
        guard sent.count > Self.maximumSent else { return true }
        let named = try sent.map(columns)
        let spare = named.dropLast().indices.first { index in
            var others = Set<String>()
            for other in named.indices where other != index { others.formUnion(named[other]) }
            return named[index].isSubset(of: others)
        }
        if let spare { sent.remove(at: spare) }
        return true
    }

    /// Changes the kind as a further local change requires. A new restore replaces the row of an earlier one, too.
    mutating func change(to kind: OperationKind, restores: Bool, _ codec: RowCodec) throws {
        self.kind = kind
        self.restores = restores
        guard restores else { return }
        sent = try sent.map { json in
            var body = try codec.row(json)
            guard body.isRestored else { return json }
            body.isRestored = false
            return body.json
        }
    }

    /// The state for coalescing. An operation counts as attempted while the server may have applied it; a refusal
    /// resets this.
    func state(isInFlight: Bool) -> PendingState {
        PendingState(kind: kind, isAttempted: !sent.isEmpty, isInFlight: isInFlight)
    }
}
