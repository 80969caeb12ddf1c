extension Check {
    /// Large tables, repeated opening, and cancellation.
    static let scale: [Check] = scaleRows + scaleResources + scaleQueries + scaleCancellation
}
