/// What kind of promise a check is about.
public enum CheckTier: String, Sendable, Hashable, Codable, CaseIterable {
    /// Every store keeps it.
    case required
    /// Who declares a capability keeps it; who declares it off fails with `unsupported` or as is declared.
    case capability
    /// Found only by many tries: random operations, kills, threads, many rows.
    case stress
}
