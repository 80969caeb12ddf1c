/// What every transaction runs beside its own statements, which each connection prepares once.
enum TransactionStep: String, CaseIterable {
    case begin = "BEGIN"
    /// Waits for the other writers, of any process.
    case beginWriting = "BEGIN IMMEDIATE"
    case commit = "COMMIT"
    case rollBack = "ROLLBACK"
    /// Opens a read transaction, which lasts until the statement is rewound.
    case readVersion = "PRAGMA data_version"

    /// The place in a list of all.
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
