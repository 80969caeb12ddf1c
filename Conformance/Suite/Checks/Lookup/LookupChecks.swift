extension Check {
    /// Lookup and deletion.
    static let lookup: [Check] = lookupRows + deletionsByID + deletionsByQuery + deletionWindows + lookupAmounts
}
