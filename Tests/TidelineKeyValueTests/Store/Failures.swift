import TidelineStore

/// Returns the `StoreError` that `body` throws, or `nil` if it succeeds.
func failure(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch {
        return error as? StoreError
    }
}
