internal import TidelineWire

/// The form of the table protocol that a server uses.
///
/// ```swift
/// var options = SyncOptions()
/// options.dialect = .datasync3
/// let client = try SyncClient(url: "https://example.org", store: store, options: options)
/// ```
///
/// A store can be used with one dialect after another, such as after the server was replaced.
public struct ServerDialect: Sendable, Hashable, CustomStringConvertible {
    let name: DialectName

    /// ZUMO 2: the Node and .NET Framework back ends of Azure Mobile Apps.
    ///
    /// An update sends the columns that have changed.
    public static let zumo2 = ServerDialect(name: .zumo2)

    /// Datasync 3: the server of the .NET Datasync Community Toolkit, with OData version 4.
    ///
    /// An update replaces the whole row on the server. A client keeps the server's columns that the local table does not
    /// define in the column `__extra` (`SystemColumns.extra`) and sends them back unchanged, so that an update wipes
    /// nothing. A row whose server columns are not known, such as one that was pulled in another dialect, is read again
    /// before its first update.
    ///
    /// A new identifier consists of 1 to 127 ASCII letters, digits, and characters of `_.|:-`, and begins with a letter
    /// or a digit.
    public static let datasync3 = ServerDialect(name: .datasync3)

    /// All dialects.
    public static let all: [ServerDialect] = DialectName.allCases.map(ServerDialect.init(name:))

    /// The name in commands, such as `zumo2`.
    public var description: String { name.rawValue }
}
