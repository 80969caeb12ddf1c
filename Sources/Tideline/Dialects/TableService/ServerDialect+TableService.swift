internal import TidelineWire

extension ServerDialect {
    /// Creates the dialect of a server of another kind.
    public init(_ dialect: some CustomDialect) { self.init(identity: AdaptedDialect(base: dialect)) }

    private init(_ name: DialectName, _ dialect: (any Dialect)? = nil) {
        self.init(identity: TableServiceDialect(name: name, wire: dialect))
    }

    /// The dialect as the core uses it. The initializers, which are all above, make no other.
    var client: any ClientDialect {
        guard let dialect = identity as? any ClientDialect else {
            preconditionFailure("not a dialect: \(identity.name)")
        }
        return dialect
    }

    /// ZUMO 2: the Node and .NET Framework back ends of Azure Mobile Apps.
    ///
    /// An update sends the columns that have changed.
    public static let zumo2 = ServerDialect(.zumo2)

    /// Datasync 3: the server of the .NET Datasync Community Toolkit, with OData version 4.
    ///
    /// An update replaces the whole row on the server. A client keeps the server's columns that the local table does
    /// not define in the column `__extra` (`SystemColumns.extra`) and sends them back unchanged, so that an update
    /// wipes nothing. A row whose server columns are not known, such as one that was pulled in another dialect, is read
    /// again before its first update.
    ///
    /// A new identifier consists of 1 to 127 ASCII letters, digits, and characters of `_.|:-`, and begins with a letter
    /// or a digit.
    public static let datasync3 = ServerDialect(.datasync3)

    /// Datasync 3, for a server whose tables have columns that a filter cannot compare with strings.
    ///
    /// Without their types, the server refuses a filter such as `released eq '1994-10-14'` of a pull, or matches no
    /// row.
    ///
    /// ```swift
    /// options.dialect = .datasync3(
    ///     columnTypes: ["Movie": ["released": .date, "rating": .enumeration("Movies.Rating")]])
    /// ```
    /// - Parameter columnTypes: The types of the server's columns, by table and column. The local columns have the type
    ///   string. A query that compares such a column with a text of another form throws
    ///   ``SyncError/Code/invalidArgument``.
    public static func datasync3(columnTypes: [String: [String: ColumnType]]) -> ServerDialect {
        ServerDialect(.datasync3, DatasyncDialect(edmTypes: columnTypes.mapValues { $0.mapValues(\.edmType) }))
    }

    /// The dialects that are built in.
    public static let all: [ServerDialect] = DialectName.allCases.map { ServerDialect($0) }

    /// The type of a server's column whose values are strings in JSON, and that filters compare with literals of their
    /// own.
    ///
    /// See ``datasync3(columnTypes:)``. The types are those of OData version 4.
    public struct ColumnType: Sendable, Hashable {
        let edmType: EdmType

        /// A date without a time, such as `2026-11-21`: `DateOnly` in .NET.
        public static let date = ColumnType(edmType: .date)
        /// A time of day, such as `09:12:49`: `TimeOnly` in .NET.
        public static let timeOfDay = ColumnType(edmType: .timeOfDay)
        /// A UUID: `Guid` in .NET.
        public static let uuid = ColumnType(edmType: .guid)

        /// An enumeration.
        ///
        /// - Parameter name: The name of the type in the server's model, with its namespace, such as `Movies.Rating`.
        public static func enumeration(_ name: String) -> ColumnType { ColumnType(edmType: .enumeration(name)) }
    }
}
