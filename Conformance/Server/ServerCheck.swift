public import TidelineConformance
internal import TidelineWire

/// One promise that a server of the table protocol keeps, and the code that verifies it.
///
/// Checks are data: ``all`` is the only list, and runs, reports, and documentation are derived from it. An identifier
/// never changes its meaning and is never reused.
public struct ServerCheck: Sendable, Identifiable {
    /// The stable identifier, such as `SRV-204`. The first digit is that of the group.
    public let id: String
    /// The part of the protocol that the check covers.
    public let group: CheckGroup
    /// The promise, in one line.
    public let promise: String
    /// The reason why clients rely on the promise.
    public let explanation: String
    /// How a client works with a server that does not keep the promise, or `nil` if it cannot. A broken promise of the
    /// first kind is reported as ``CheckStatus/tolerated``, of the second as ``CheckStatus/failed``. The latter also
    /// applies to what no client works with, such as lost rows, changed values, and requests without a response.
    public let tolerance: String?

    /// The properties of the server without which the check is skipped.
    let needs: [ServerNeed]
    /// Whether the check reads ``ServerSession/sharedRows()``, which are inserted before its time begins.
    let readsSharedRows: Bool
    let body: @Sendable (ServerCheckContext) async throws -> Void

    /// Creates a check. The promise is the behavior of a server, in the present tense, without a full stop.
    init(
        _ id: String, _ promise: String, why explanation: String, tolerated tolerance: String? = nil,
        needs: [ServerNeed] = [], readsSharedRows: Bool = false,
        body: @escaping @Sendable (ServerCheckContext) async throws -> Void
    ) {
        guard let group = CheckGroup(rawValue: String(id.prefix(5))) else {
            preconditionFailure("there is no check group for \(id)")
        }
        self.id = id
        self.group = group
        self.promise = promise
        self.explanation = explanation
        self.tolerance = tolerance
        self.needs = needs
        self.readsSharedRows = readsSharedRows
        self.body = body
    }

    /// All checks, in the order in which they run and are reported.
    public static let all: [ServerCheck] = [
        requests, lists, inserts, updates, deletes, stamps, filters, values, concurrency,
    ].flatMap { $0 }

    /// The check as in reports and lists.
    package var summary: CheckSummary {
        CheckSummary(
            id: id, group: group, tier: tolerance == nil ? .required : .tolerated, promise: promise,
            explanation: ([explanation] + (tolerance.map { ["On another server: \($0)."] } ?? [])).joined(
                separator: " "))
    }
}

extension ServerCheck: Hashable, CustomStringConvertible {
    public static func == (a: ServerCheck, b: ServerCheck) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    /// The identifier and the promise.
    public var description: String { "\(id) \(promise)" }
}

/// A property that a server must have for a check to be meaningful.
enum ServerNeed: Sendable, Hashable {
    /// The check concerns one dialect only.
    case dialect(DialectName)
    /// A row keeps the id with which it was inserted.
    case clientIDs
    /// A deleted row stays in the table, marked as deleted.
    case tombstones

    /// Whether only servers of another dialect lack the property.
    var isDialect: Bool { if case .dialect = self { true } else { false } }

    /// Returns the reason why a check with this need is skipped, or `nil` if it runs.
    func obstacle(_ dialect: DialectName, _ facts: ServerFacts) -> String? {
        switch self {
        case .dialect(let name): name == dialect ? nil : "the promise belongs to the dialect \(name.rawValue)"
        case .clientIDs: facts.keepsIDs ? nil : "the server assigns ids itself (SRV-302)"
        case .tombstones: facts.keepsTombstones ? nil : "the server keeps no deleted rows (SRV-503)"
        }
    }
}
