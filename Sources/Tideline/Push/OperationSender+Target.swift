internal import TidelineStore

/// The row that an update changes.
///
/// A server that replaces whole rows needs all columns of the row, including those that the local table does not
/// define. The request is conditional on the version of the row from which they were taken, so that an update
/// overwrites nothing that others have changed since.
struct UpdateTarget: Sendable {
    /// The version that the request is conditional on, or `nil` for any version.
    var version: String?
    /// The server's row in this version as JSON, if the server replaces whole rows.
    var row: String?
}

extension OperationSender {
    /// The result of a search for the row that an update changes.
    enum FoundTarget: Sendable {
        case known(UpdateTarget)
        /// The server has no such row.
        case gone
        /// The server has the row in another version.
        case changed(Row)
    }

    /// Returns whether an update of this version can be sent without reading the server's row first.
    func isTarget(_ row: Row?, of version: String?) -> Bool {
        guard dialect.replacesWholeRows else { return true }
        guard let row, let version, case .json? = row.extra else { return false }
        return row.version == version
    }

    /// Returns the row that an update changes. Reads the server's row if its further columns are not known.
    ///
    /// - Parameters:
    ///   - version: The version that the update is based on, or `nil` to change any version.
    ///   - json: The known row as JSON. It may have columns that the table no longer defines.
    ///   - row: The known row.
    nonisolated(nonsending) func target(
        of version: String?, _ json: String?, _ row: Row?
    ) async throws -> FoundTarget {
        guard dialect.replacesWholeRows else { return .known(UpdateTarget(version: version)) }
        if isTarget(row, of: version) { return .known(UpdateTarget(version: version, row: json)) }
        guard let server = try await lookUp(), !server.isTombstone else { return .gone }
        guard version == nil || server.version == version else { return .changed(server) }
        return .known(UpdateTarget(version: server.version, row: server.json))
    }

    func update(_ body: Row, _ target: UpdateTarget) -> RowRequest {
        request(.update, row: body, version: target.version, current: target.row)
    }
}
