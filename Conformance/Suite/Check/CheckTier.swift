/// The kinds of promises.
public enum CheckTier: String, Sendable, Hashable, Codable, CaseIterable {
    /// Every store must keep the promise.
    case required
    /// A store that declares the capability must keep the promise. A store that does not declare it fails with
    /// `unsupported` or as documented.
    case capability
    /// The subject should keep the promise, but clients work with one that does not. Only checks of servers.
    case tolerated
    /// Violations are found only by repetition: random operations, kills, threads, many rows.
    case stress
    /// Violations are found only by amounts and waits that take minutes; see ``Profile/long``. The amounts are those of
    /// the promise for 100,000 ``ConformanceSettings/rows`` and in proportion to other numbers of rows.
    case long
}
