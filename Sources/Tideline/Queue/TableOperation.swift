public import TidelineStore

/// What an operation does to its row.
public enum OperationKind: Int64, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case insert = 0
    case update = 1
    case delete = 2

    public var description: String {
        switch self {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }
}

/// A change of one row that waits to be pushed.
///
/// An operation does not hold the row (but for a deleted one): what is sent is the row as it is in the local table
/// when the push comes to it.
public struct TableOperation: Sendable, Identifiable {
    /// The number of the operation; greater than that of every operation before it, and never used again.
    public let id: Int64
    /// The table of the row.
    public let table: String
    /// The id of the row, as stored first.
    public let itemID: String
    /// What it does.
    public internal(set) var kind: OperationKind
    /// How often a request left for it, counted before it leaves: once in each push, and again where the operation
    /// builds on an earlier try of its own. Repetitions of a request after a transient answer do not count.
    public internal(set) var attempts: Int64 = 0
    /// What went wrong last, if something did.
    public internal(set) var lastError: String?
    /// The version of the row that the change was made on; nil when there was none.
    public internal(set) var baseVersion: String?

    /// The row as it is in the local table, or was before its delete; nil when there is none, or the table is not defined.
    public internal(set) var item: Row?

    /// The id as its table compares it.
    let itemKey: String
    /// The content of a deleted row, as JSON.
    var deletedItem: String?
    /// The row that the change was made on, as the server had it, as JSON; only on the oldest operation of a row.
    var base: String?
    /// The row as a pull brought it since, as JSON. It does not replace the base, or the next push would take the changes
    /// of others for the app's own and undo them.
    var pulled: String?
    /// The bodies that were sent and whose fate is not known, as JSON, the oldest first; see ``note(sent:columns:)``.
    var sent: [String] = []
    /// Whether this update brings back a row that was deleted.
    var restores = false
    /// Grows with every change of the operation or of its row; what answers and resolutions compare.
    var revision: Int64 = 0

    init(id: Int64, table: String, itemID: String, itemKey: String, kind: OperationKind) {
        self.id = id
        self.table = table
        self.itemID = itemID
        self.itemKey = itemKey
        self.kind = kind
    }

    /// How many bodies are kept, beside those that alone name a column.
    static let maximumSent = 8

    /// Keeps a body that is about to be sent. Beyond ``maximumSent`` the oldest goes whose columns others name too: what
    /// a body may have written must be cleared by a later one, as long as that is not known not to have happened.
    ///
    /// - Parameter columns: The columns that a body names.
    /// - Returns: Whether it was not kept already.
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

    /// Attempted is what the server may have carried out: a refusal takes that back.
    var state: PendingState { PendingState(kind: kind, isAttempted: !sent.isEmpty, isInFlight: false) }
}
