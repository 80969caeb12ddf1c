public import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// Options for a ``TableService``.
public struct TableServiceOptions: Sendable {
    /// The dialect of requests that do not state their version in the header `ZUMO-API-VERSION`, except `PUT` and
    /// requests with `$count`, which are of Datasync 3. ZUMO 2 requires the version: with ``Dialect/zumo2``, the others
    /// are answered with 400.
    public var dialect: Dialect
    /// Tables to define when the service is created. They get all system columns and an index on `updatedAt`, which
    /// pulls use.
    public var schemas: [TableSchema]
    /// Whether an insert or update creates a missing table or column, with the type of its JSON value. A column with
    /// only null values is created when another value arrives.
    ///
    /// A number with a point or an exponent, as clients of Tideline write all doubles, creates a column of type
    /// `double`, and any other number one of type `int`, which accepts no fractions later. (The columns of the original
    /// Node back end accept them.) If several apps write to a column, define it in ``schemas``.
    public var createsTablesOnFirstInsert: Bool
    /// The maximum `$top` of a ZUMO 2 request; greater values are answered with 400. For Datasync 3 it is 128,000.
    public var maximumPageSize: Int
    /// The number of rows in a page of a ZUMO 2 response if the request does not specify it.
    public var defaultPageSize: Int
    /// The maximum number of rows in a page of a Datasync 3 response, whatever the request specifies.
    public var datasyncPageSize: Int
    /// The maximum size of a page in bytes, before compression; 16 MiB by default. A page ends before the row that
    /// would exceed it, and links to the next page; it has at least one row. The clients of both dialects read on after
    /// such a page, as after those of the original back ends, which have fewer rows than requested if the server's page
    /// size is smaller.
    public var maximumPageBytes = 16 << 20
    /// The maximum size of a body in bytes; larger ones are answered with 413.
    public var maximumBodySize: Int
    /// The time limit for finding the rows of a page; beyond it, the request is answered with 400. The store must
    /// support it: ``StoreReader/limitTime``. With any store, it holds for costly filters, which the service evaluates
    /// itself: those that make texts longer (`replace`, `concat`), search for long texts, or have more than 2,000
    /// comparisons and arithmetic operators, where a function counts as 100.
    public var maximumQueryTime: Duration
    /// The rights of tables by name. Each table must be one of ``schemas`` or already be in the store.
    public var rights: [String: TableRights]
    /// The rights of all other tables; ``TableRights/open`` by default. With an owner column, a table that is created
    /// by its first row gets the column.
    public var defaultRights: TableRights
    /// The number of tables from which on requests can create no more; 1,000 by default. A request that needs another
    /// table is answered with 400.
    public var maximumTables = 1_000
    /// The maximum number of columns of a table to which requests add columns; 1,000 by default. A request that needs
    /// more is answered with 400. Clients choose the names, which are kept forever.
    public var maximumColumns = 1_000
    /// The URL at which clients reach the service, such as `https://example.com/api`, for links to next pages and rows.
    /// By default, links have the scheme and authority of the request, which are wrong behind a proxy that ends TLS or
    /// removes a part of the path.
    public var publicURL: String?
    /// Returns the current time, used for `updatedAt`, `createdAt` and the `Date` header.
    public var clock: @Sendable () -> Timestamp
    /// Returns the version for a written row: an opaque text that never repeats.
    public var makeVersion: @Sendable () -> String
    /// Returns the id for a row that was inserted without one.
    public var makeID: @Sendable () -> String

    /// Called with each request before its response is returned, on the thread of the response; `nil` by default. It
    /// must not block.
    ///
    /// A span of a tracing library begins at the present time less ``ServedRequest/duration``, and its context is in
    /// the headers of the request. With swift-metrics:
    ///
    /// ```swift
    /// let timer = Timer(label: "requests")
    /// options.onResponse = { served in timer.record(duration: served.duration) }
    /// ```
    public var onResponse: (@Sendable (ServedRequest) -> Void)?

    /// The behavior of another server to reproduce.
    package var behavior = ServiceBehavior()
    /// Called after each commit with the number of writes in it, on the thread that committed. It must not block.
    package var onCommit: (@Sendable (_ writes: Int) -> Void)?

    /// Creates options. The defaults match the original back end, except for a maximum body size of 1 MiB.
    public init(
        schemas: [TableSchema] = [], dialect: Dialect = .zumo2, createsTablesOnFirstInsert: Bool = true,
        maximumPageSize: Int = 1000, defaultPageSize: Int = 50, datasyncPageSize: Int = 100,
        maximumBodySize: Int = 1 << 20, maximumQueryTime: Duration = .seconds(10),
        rights: [String: TableRights] = [:], defaultRights: TableRights = .open,
        clock: @escaping @Sendable () -> Timestamp = { .now },
        makeVersion: @escaping @Sendable () -> String = { TableServiceOptions.randomVersion() },
        makeID: @escaping @Sendable () -> String = { TableServiceOptions.randomID() }
    ) {
        self.schemas = schemas
        self.dialect = dialect
        self.createsTablesOnFirstInsert = createsTablesOnFirstInsert
        self.maximumPageSize = maximumPageSize
        self.defaultPageSize = defaultPageSize
        self.datasyncPageSize = datasyncPageSize
        self.maximumBodySize = maximumBodySize
        self.maximumQueryTime = maximumQueryTime
        self.rights = rights
        self.defaultRights = defaultRights
        self.clock = clock
        self.makeVersion = makeVersion
        self.makeID = makeID
    }

    /// A form of the table protocol.
    public struct Dialect: Sendable, Hashable, CustomStringConvertible {
        let name: DialectName

        /// ZUMO 2: the Node and .NET Framework back ends of Azure Mobile Apps.
        public static let zumo2 = Dialect(name: .zumo2)
        /// Datasync 3: the .NET Datasync Community Toolkit server.
        public static let datasync3 = Dialect(name: .datasync3)
        /// All dialects.
        public static let all: [Dialect] = DialectName.allCases.map(Dialect.init(name:))

        /// The name in commands, such as `zumo2`.
        public var description: String { name.rawValue }
    }

    /// Returns 12 random bytes as base64.
    @usableFromInline static func randomVersion() -> String {
        // Twelve bytes are sixteen base64 characters of six bits each, eight from each of two words.
        String(unsafeUninitializedCapacity: 16) { letters in
            for start in [0, 8] {
                let word = UInt64.random(in: .min ... .max)
                for index in 0..<8 { letters[start + index] = base64Alphabet[Int(word >> (index * 6) & 63)] }
            }
            return 16
        }
    }

    private static let base64Alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns a random UUID in lowercase.
    @usableFromInline static func randomID() -> String { ItemID.random() }
}

/// A request that a ``TableService`` has responded to, for metrics and traces; see ``TableServiceOptions/onResponse``.
public struct ServedRequest: Sendable {
    /// The request. Its headers contain the trace of the client, if it has one.
    public let request: HTTPRequest
    /// The response.
    public let response: TableResponse
    /// The time from the call of the service to the response. For a write, it includes the wait for its transaction.
    public let duration: Duration
}
