/// Behavior of the original Azure Mobile Apps back ends that a ``TableService`` reproduces on request.
///
/// By default a service behaves as clients hope: an insert of an identifier that exists is answered with the server's
/// row, versions never repeat, a deleted row can be looked up. A client that is to work with the servers in the field must
/// also cope with the ones that do none of this. Each quirk was observed on the original Node server 4.0 over SQLite.
///
/// ```swift
/// let options = TableServiceOptions(schemas: tables, quirks: [.original, .hardDelete])
/// ```
public struct ServerQuirks: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Versions count the changes of one row (`MQ==` is 1), so that a row that was deleted and inserted again repeats
    /// the versions of its former life.
    public static let perRowVersions = ServerQuirks(rawValue: 1)
    /// A delete removes the row: there are no tombstones, rows have no `deleted` column, and an undelete is answered
    /// with 500.
    public static let hardDelete = ServerQuirks(rawValue: 2)
    /// `GET …/{id}` ignores `__includeDeleted` and answers 404 for a soft-deleted row; only the list shows it.
    public static let hidesDeletedRows = ServerQuirks(rawValue: 4)
    /// Faults that no repetition cures are answered with 500: a JSON array or object as a value, a column that a table
    /// with fixed columns does not have, `null` for such a column in an update.
    public static let answersFaultsWith500 = ServerQuirks(rawValue: 8)
    /// An insert of an identifier that exists is answered with 409 and the body of the request, not the server's row.
    public static let echoesConflictingInserts = ServerQuirks(rawValue: 16)
    /// Integers beyond 2^53 are rounded to the nearest double.
    public static let roundsIntegers = ServerQuirks(rawValue: 32)
    /// The server makes the identifiers: an insert is answered with a number of the server's own as `id`.
    public static let makesIDs = ServerQuirks(rawValue: 64)
    /// `$filter` follows SQL: a comparison with null is neither true nor false, so that `ne`, `not` and not-in leave
    /// out rows whose value is null; a column that the table does not have matches no row.
    public static let filtersLikeSQL = ServerQuirks(rawValue: 128)
    /// Stamps have whole milliseconds, and rows written within one share it.
    public static let millisecondStamps = ServerQuirks(rawValue: 256)
    /// `If-Match: *` matches no row.
    public static let refusesAnyMatch = ServerQuirks(rawValue: 512)

    /// What a table of the original Node server does whose soft delete is switched on and whose clients make the
    /// identifiers. Add ``hardDelete``, that server's default, or ``makesIDs`` as needed.
    public static let original: ServerQuirks = [
        .perRowVersions, .hidesDeletedRows, .answersFaultsWith500, .echoesConflictingInserts, .roundsIntegers,
        .filtersLikeSQL, .millisecondStamps, .refusesAnyMatch,
    ]

    /// Every quirk by the name that a command line uses, ``original`` first.
    public static let named: [(name: String, quirks: ServerQuirks)] = [
        ("original", .original), ("hard-delete", .hardDelete), ("server-ids", .makesIDs),
        ("per-row-versions", .perRowVersions), ("hidden-deleted-rows", .hidesDeletedRows),
        ("faults-as-500", .answersFaultsWith500), ("echoed-inserts", .echoesConflictingInserts),
        ("rounded-integers", .roundsIntegers), ("sql-filters", .filtersLikeSQL),
        ("millisecond-stamps", .millisecondStamps), ("no-any-match", .refusesAnyMatch),
    ]
}
