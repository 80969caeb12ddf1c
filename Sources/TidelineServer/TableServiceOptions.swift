public import TidelineStore
internal import TidelineWire

/// How a ``TableService`` behaves.
public struct TableServiceOptions: Sendable {
    /// Tables to define when the service is made. They get all system columns and an index over `updatedAt`, by which
    /// clients pull.
    public var schemas: [TableSchema]
    /// Whether a row for a table or column that does not exist makes it, with the type that its JSON shows, as the
    /// original Node back end does. A column that only null was sent for is left undefined until a value comes.
    public var createsTablesOnFirstInsert: Bool
    /// The greatest `$top` that is answered; more is 400.
    public var maximumPageSize: Int
    /// How many rows a page has when the request does not say.
    public var defaultPageSize: Int
    /// The greatest body in bytes; more is 413.
    public var maximumBodySize: Int
    /// How long a costly filter may be evaluated; more is 400. Costly are filters that make texts longer (`replace`,
    /// `concat`), that search for long texts, or that have more than 20 functions or 2,000 comparisons; others are left to
    /// the store.
    public var maximumFilterTime: Duration
    /// Behavior of the original back ends to reproduce; none by default.
    public var quirks: ServerQuirks
    /// The time: what `updatedAt`, `createdAt` and the header `Date` are made from.
    public var clock: @Sendable () -> Timestamp
    /// Makes the version of a row that was written: opaque text, never the same twice.
    public var makeVersion: @Sendable () -> String
    /// Makes the id of a row that came without one.
    public var makeID: @Sendable () -> String

    /// Options; those not named are the original back end's, but for a body of up to 1 MiB.
    public init(
        schemas: [TableSchema] = [], createsTablesOnFirstInsert: Bool = true, maximumPageSize: Int = 1000,
        defaultPageSize: Int = 50, maximumBodySize: Int = 1 << 20, maximumFilterTime: Duration = .seconds(5),
        quirks: ServerQuirks = [],
        clock: @escaping @Sendable () -> Timestamp = { .now },
        makeVersion: @escaping @Sendable () -> String = { TableServiceOptions.randomVersion() },
        makeID: @escaping @Sendable () -> String = { TableServiceOptions.randomID() }
    ) {
        self.schemas = schemas
        self.createsTablesOnFirstInsert = createsTablesOnFirstInsert
        self.maximumPageSize = maximumPageSize
        self.defaultPageSize = defaultPageSize
        self.maximumBodySize = maximumBodySize
        self.maximumFilterTime = maximumFilterTime
        self.quirks = quirks
        self.clock = clock
        self.makeVersion = makeVersion
        self.makeID = makeID
    }

    /// The base64 text of 12 random bytes.
    public static func randomVersion() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        // Twelve bytes are sixteen letters of six bits, here eight from each of two words.
        let words = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)]
        let letters = words.flatMap { word in (0..<8).map { alphabet[Int(word >> ($0 * 6) & 63)] } }
        return String(decoding: letters, as: UTF8.self)
    }

    /// A random UUID in lower case.
    public static func randomID() -> String { ItemID.random() }
}
