extension Check {
    /// Order and paging.
    static let order: [Check] = []
}
