internal import TidelineStore

extension Environment {
    func verify() throws(StoreError) {}

    /// The error of a commit that failed.
    func commitError(_ result: Int32) -> StoreError { error(result, "the transaction could not be committed") }
}
