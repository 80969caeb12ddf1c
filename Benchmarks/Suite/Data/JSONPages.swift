/// Pages of a table as a service answers them, in order.
public struct JSONPages: Sendable {
    /// The bodies of the answers, each a JSON array of rows, each row once. A row has its `id`, the table's columns and the
    /// service's own, of which the table keeps `updatedAt` and `version` but not `createdAt` and `deleted`.
    public var bodies: [[UInt8]]
    /// How many rows there are in all.
    public var rows: Int
    /// How many pages are applied in one transaction.
    public var pagesPerTransaction: Int

    /// Pages.
    public init(bodies: [[UInt8]], rows: Int, pagesPerTransaction: Int = 1) {
        self.bodies = bodies
        self.rows = rows
        self.pagesPerTransaction = pagesPerTransaction
    }
}
