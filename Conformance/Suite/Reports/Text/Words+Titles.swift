internal import TidelineSupport

extension CheckStatus {
    /// The status as reports have it, such as `known failure`.
    public var title: String { Words.title(self) }
}

extension CheckTier {
    /// The tier as reports have it, such as `by capability`.
    public var title: String { Words.title(self) }
}

extension CheckNeed {
    /// The need as reports have it, such as `full durability`.
    public var title: String { Words.title(self) }
}

/// Text of a store on one line of a terminal: control characters become visible.
package func printable(_ text: String) -> String { Escape.line(text) }
