extension Check {
    /// Many rows, many openings, cancellation.
    static let scale: [Check] = scaleRows + scaleResources + scaleQueries + scaleCancellation
}
