internal import TidelineSupport

extension CheckStatus {
    /// The status as shown in reports, such as `known failure`.
    public var title: String { Words.title(self) }
}

extension Check {
    /// The check as in reports and lists.
    package var summary: CheckSummary { CheckSummary(self) }
}

extension CheckTier {
    /// The tier as shown in reports, such as `by capability`.
    public var title: String { Words.title(self) }
}

extension CheckNeed {
    /// The requirement as shown in reports, such as `full durability`.
    public var title: String { Words.title(self) }
}

/// Returns a store's text on one line for a terminal, with control characters made visible.
package func printable(_ text: String) -> String { Escape.line(text) }
