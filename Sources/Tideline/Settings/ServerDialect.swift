/// The protocol that a server speaks, chosen when the client is made.
///
/// ```swift
/// var options = SyncOptions()
/// options.dialect = .datasync3
/// let client = try SyncClient(url: "https://example.org", store: store, options: options)
/// ```
///
/// Two dialects of table services are built in. For a server of another kind, conform a type to ``CustomDialect`` and
/// create a dialect with ``init(_:)``; see <doc:SpeakingToAnotherServer>.
///
/// A store can be used with one dialect after another. Incremental pulls begin with the first row after a change from
/// or to a ``CustomDialect``, and after one from ``zumo2`` to ``datasync3``. Otherwise they continue: if the server was
/// replaced by one with other rows, call ``SyncClient/switchServer(keepingPending:)``.
public struct ServerDialect: Sendable, Hashable, CustomStringConvertible {
    let identity: any DialectIdentity

    /// The name in commands, such as `zumo2`, or that of the custom dialect.
    public var description: String { identity.name }

    public static func == (a: ServerDialect, b: ServerDialect) -> Bool {
        a.identity.name == b.identity.name && a.identity.isTableService == b.identity.isTableService
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(identity.name) }
}

/// The name and kind of a dialect. The dialects themselves conform to it.
protocol DialectIdentity: Sendable {
    /// The name of the dialect.
    var name: String { get }
    /// Whether the dialect is that of a table service, which remote tables, custom APIs, and sign-ins use.
    var isTableService: Bool { get }
}
