extension Check {
    /// Look-up and deletion.
    static let lookup: [Check] = []
}
