extension Check {
    /// Values and ids.
    static let values: [Check] = []
}
