/// The statements that transactions run in addition to their own, prepared once per connection.
enum TransactionStep: String, CaseIterable {
    case begin = "BEGIN"
    /// Waits for other writers, in any process.
    case beginWriting = "BEGIN IMMEDIATE"
    case commit = "COMMIT"
    case rollBack = "ROLLBACK"
    /// Opens a read transaction, which lasts until the statement is rewound.
    case readVersion = "PRAGMA data_version"

    /// The index in a list of all steps.
    var place: Int {
        switch self {
        case .begin: 0
        case .beginWriting: 1
        case .commit: 2
        case .rollBack: 3
        case .readVersion: 4
        }
    }
}
