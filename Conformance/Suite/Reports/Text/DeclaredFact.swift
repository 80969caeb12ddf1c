internal import TidelineStore

/// A capability that a store declares, in words.
struct DeclaredFact: Sendable {
    /// The name of the capability.
    var title: String
    /// Returns the text of a store's declaration.
    var text: @Sendable (StoreCapabilities) -> String

    /// All declared capabilities.
    static let all: [DeclaredFact] = [
        DeclaredFact(title: "Adapter") { $0.name },
        DeclaredFact(title: "Version of the contract") { "\($0.contractVersion)" },
        DeclaredFact(title: "Keeps rows when closed") { answer($0.isPersistent) },
        DeclaredFact(title: "Durability") { $0.durability.rawValue },
        DeclaredFact(title: "Files shared with processes") { answer($0.sharesFilesWithProcesses) },
        DeclaredFact(title: "Readers do not block writers") { answer($0.readersDoNotBlockWriters) },
        DeclaredFact(title: "Stores NaN") { answer($0.storesNaN) },
        DeclaredFact(title: "Stores infinities") { answer($0.storesInfinity) },
        DeclaredFact(title: "Detects flipped bits") { answer($0.detectsBitFlips) },
        DeclaredFact(title: "Limits the time of queries") { answer($0.limitsQueryTime) },
        DeclaredFact(title: "Longest id") { "\($0.maximumIDLength)" },
    ]

    private static func answer(_ value: Bool) -> String { value ? "yes" : "no" }
}
