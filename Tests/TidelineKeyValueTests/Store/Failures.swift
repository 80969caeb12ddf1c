import TidelineStore

/// The error with which `body` fails as a store does; nil when it does not.
func failure(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch {
        return error as? StoreError
    }
}
