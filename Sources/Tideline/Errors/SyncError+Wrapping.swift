internal import TidelineStore
internal import TidelineWire

extension SyncError {
    /// Returns an error as a ``SyncError``. An error of another type becomes its cause.
    static func wrapping(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: return error
        case let error as StoreError where error.code == .cancelled:
            return SyncError(.cancelled, "the task was cancelled", table: error.table, cause: error)
        case let error as StoreError:
            return SyncError(
                .store, error.reason, table: error.table, column: error.column, id: error.id, cause: error)
        case let error as WireError:
            return SyncError(
                .invalidArgument, error.message, table: error.table, column: error.column, id: error.id, cause: error)
        case is CancellationError: return SyncError(.cancelled, "the task was cancelled")
        default: return SyncError(.store, "cannot read the local state: \(error)", cause: error)
        }
    }

    /// Runs a closure whose errors become ``SyncError``s.
    nonisolated(nonsending) static func wrappingErrors<T>(
        of body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch {
            throw wrapping(error)
        }
    }
}
