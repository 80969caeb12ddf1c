package import TidelineStore
package import TidelineWire

/// The decisions of a ``TableService`` in which deployed servers differ from it.
///
/// A function that is `nil` leaves a decision to the service. The simulation sets the functions to reproduce the
/// original servers.
package struct ServiceBehavior: Sendable {
    /// The columns of a body, and the definition of its table, if there is one.
    package typealias Body = (
        columns: [(name: String, value: Value)], table: TableSchema?, isInsert: Bool, addsColumns: Bool
    )

    /// Whether a deleted row leaves a tombstone. If not, rows have no column `deleted`.
    package var leavesTombstones = true
    /// Returns the request to process instead of another one, which is not an insert.
    package var request: (@Sendable (TableRequest) throws -> TableRequest)?
    /// Returns the query for a page, or `nil` if no row matches.
    package var query: (@Sendable (TableRead, TableSchema) throws -> TableQuery?)?
    /// Throws if a body must be refused, whatever the service would respond.
    package var validate: (@Sendable (Body) throws -> Void)?
    /// Returns the row to write instead of the one in a body.
    package var row: (@Sendable (_ row: Row, _ isInsert: Bool) -> Row)?
    /// Returns whether a row with a version may be changed.
    package var allows: (@Sendable (IfMatch, _ version: String?) -> Bool)?
    /// Returns the version of a written row.
    package var version: (@Sendable (_ previous: String?) -> String)?
    /// Returns the timestamp of a row that is written at a time.
    package var stamp: (@Sendable (_ time: Timestamp) -> Timestamp)?
    /// Returns the response to an insert of an existing identifier.
    package var conflict: (@Sendable (_ body: [UInt8]) -> TableResponse)?

    package init() {}
}
