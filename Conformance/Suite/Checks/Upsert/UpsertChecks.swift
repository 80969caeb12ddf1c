extension Check {
    /// Inserting and merging rows.
    static let upsert: [Check] =
        upsertMerging + upsertBatches + upsertShapes + upsertRefusals + upsertIndexes + upsertAmounts
}
