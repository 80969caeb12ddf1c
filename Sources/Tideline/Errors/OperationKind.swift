/// The kind of change that an operation makes to its row.
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
