extension Check {
    /// Look-up and deletion.
    static let lookup: [Check] = lookupRows + deletionsByID + deletionsByQuery + deletionWindows + lookupAmounts
}
