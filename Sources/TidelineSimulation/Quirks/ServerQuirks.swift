public import TidelineServer

/// Behaviors of the original Azure Mobile Apps back ends that a table service can reproduce; see
/// ``TidelineServer/TableServiceOptions/reproduce(_:)``.
///
/// By default, a service behaves as clients expect: an insert of an existing identifier is answered with the server's
/// row, versions never repeat, and a deleted row can be looked up. A client for deployed servers must also handle
/// servers that do none of this. Each quirk was observed on the original Node server 4.0 with SQLite.
public struct ServerQuirks: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Versions count the changes of one row (`MQ==` is 1), so a row that was deleted and inserted again repeats its
    /// earlier versions.
    public static let perRowVersions = ServerQuirks(rawValue: 1)
    /// A delete removes the row: there are no tombstones, rows have no `deleted` column, and an undelete is answered
    /// with 500.
    public static let hardDelete = ServerQuirks(rawValue: 2)
    /// `GET …/{id}` ignores `__includeDeleted` and answers 404 for a soft-deleted row, which only a list query returns.
    public static let hidesDeletedRows = ServerQuirks(rawValue: 4)
    /// Permanent errors are answered with 500: a JSON array or object as a value, a column that a table with fixed
    /// columns does not have, `null` for such a column in an update.
    public static let answersFaultsWith500 = ServerQuirks(rawValue: 8)
    /// An insert of an existing identifier is answered with 409 and the body of the request, not the server's row.
    public static let echoesConflictingInserts = ServerQuirks(rawValue: 16)
    /// Integers beyond 2^53 are rounded to the nearest double.
    public static let roundsIntegers = ServerQuirks(rawValue: 32)
    /// The server assigns identifiers: an insert is answered with a number chosen by the server as `id`.
    public static let makesIDs = ServerQuirks(rawValue: 64)
    /// `$filter` follows SQL: a comparison with null is neither true nor false, so `ne`, `not` and negated membership
    /// exclude rows with a null value; a filter with an unknown column matches no row.
    public static let filtersLikeSQL = ServerQuirks(rawValue: 128)
    /// Timestamps have whole milliseconds, and rows written within the same millisecond share one.
    public static let millisecondStamps = ServerQuirks(rawValue: 256)
    /// `If-Match: *` matches no row.
    public static let refusesAnyMatch = ServerQuirks(rawValue: 512)

    /// The behavior of an original Node server's table with soft delete and client-assigned identifiers. Add
    /// ``hardDelete``, that server's default, or ``makesIDs`` as needed.
    public static let original: ServerQuirks = [
        .perRowVersions, .hidesDeletedRows, .answersFaultsWith500, .echoesConflictingInserts, .roundsIntegers,
        .filtersLikeSQL, .millisecondStamps, .refusesAnyMatch,
    ]

    /// All quirks with their command-line names, ``original`` first.
    public static let named: [(name: String, quirks: ServerQuirks)] = [
        ("original", .original), ("hard-delete", .hardDelete), ("server-ids", .makesIDs),
        ("per-row-versions", .perRowVersions), ("hidden-deleted-rows", .hidesDeletedRows),
        ("faults-as-500", .answersFaultsWith500), ("echoed-inserts", .echoesConflictingInserts),
        ("rounded-integers", .roundsIntegers), ("sql-filters", .filtersLikeSQL),
        ("millisecond-stamps", .millisecondStamps), ("no-any-match", .refusesAnyMatch),
    ]
}

extension TableServiceOptions {
    /// Makes services reproduce quirks, and only these.
    ///
    /// ```swift
    /// var options = TableServiceOptions(schemas: tables)
    /// options.reproduce([.original, .hardDelete])
    /// let service = try TableService(store: store, options: options)
    /// ```
    public mutating func reproduce(_ quirks: ServerQuirks) { behavior = ServiceBehavior(quirks) }
}
