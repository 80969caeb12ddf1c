extension Check {
    /// Opening, closing, and files.
    static let lifecycle: [Check] =
        storeOpening + storeReopening + storeClosing + usedHandles + sharedOpening + exclusiveOpening + storeFiles
        + failedOpening + openingModes + storeDestruction + lifecycleProcesses
}
