extension Check {
    /// Many rows.
    static let scale: [Check] = []
}
