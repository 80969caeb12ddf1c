/// One promise that every local store must keep, and the code that verifies it.
///
/// Checks are data: ``all`` is the only list, and runs, reports, and documentation are derived from it. An identifier
/// never changes its meaning and is never reused.
public struct Check: Sendable, Identifiable {
    /// The stable identifier, such as `UPS-004`: the group's code and a number.
    public let id: String
    /// The part of a store that the check covers.
    public let group: CheckGroup
    /// The kind of promise.
    public let tier: CheckTier
    /// The promise, in one line.
    public let promise: String
    /// The reason for the promise and the mistakes that break it; empty where the promise is self-explanatory.
    public let explanation: String
    /// The version of the contract that made the promise; see ``StoreCapabilities/contractVersion``.
    public let since: Int
    /// The requirements that the store's declarations and the harness must meet for the check to run.
    public let needs: [CheckNeed]

    let body: @Sendable (CheckContext) throws -> Void

    /// Creates a check. The promise is the behavior of a store, in the present tense, without a full stop. The tier is
    /// by default ``CheckTier/required``, or ``CheckTier/capability`` if `needs` contains a capability.
    init(
        _ id: String, _ promise: String, why explanation: String = "", tier: CheckTier? = nil, since: Int = 1,
        needs: [CheckNeed] = [], body: @escaping @Sendable (CheckContext) throws -> Void
    ) {
        let code = String(id.prefix { $0 != "-" })
        guard let group = CheckGroup(rawValue: code) else {
            preconditionFailure("there is no check group with the code \(code)")
        }
        self.id = id
        self.group = group
        self.tier = tier ?? (needs.contains(where: \.isCapability) ? .capability : .required)
        self.promise = promise
        self.explanation = explanation
        self.since = since
        self.needs = needs
        self.body = body
    }

    /// Creates a check of the answers to queries over a sample table.
    init(
        _ id: String, _ promise: String, why explanation: String = "", tier: CheckTier? = nil,
        needs: [CheckNeed] = [], over sample: @autoclosure @escaping @Sendable () -> SampleTable,
        readOnly: Bool = false, isDeep: Bool = false, answers: @escaping @Sendable (inout ExpectedAnswers) -> Void
    ) {
        self.init(id, promise, why: explanation, tier: tier, needs: needs) { context in
            try context.expectAnswers(over: sample(), readOnly: readOnly, isDeep: isDeep, answers)
        }
    }
}

extension Check: Hashable, CustomStringConvertible {
    public static func == (a: Check, b: Check) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    /// The identifier and the promise.
    public var description: String { "\(id) \(promise)" }
}

extension [Check] {
    /// Returns the checks with requirements that all of them have, which come before their own.
    func needing(_ common: CheckNeed...) -> [Check] {
        map { check in
            Check(
                check.id, check.promise, why: check.explanation, tier: check.tier == .required ? nil : check.tier,
                since: check.since, needs: common + check.needs, body: check.body)
        }
    }
}

extension Check {
    /// All checks, in the order in which they run and are reported. The list of a group is in the group's folder, in
    /// the file that is named after the group.
    public static let all: [Check] = [
        syncCore, lifecycle, tables, upsert, lookup, filters, order, values, systemTables, transactions, concurrency,
        durability, scale, model, observation, engine, long,
    ].flatMap { $0 }

    /// Returns the check with the given identifier, in either case, or `nil` if there is none.
    public static func named(_ id: String) -> Check? { byID[id.uppercased()] }

    private static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
}

/// The kinds of promises.
public enum CheckTier: String, Sendable, Hashable, Codable, CaseIterable {
    /// Every store must keep the promise.
    case required
    /// A store that declares the capability must keep the promise. A store that does not declare it fails with
    /// `unsupported` or as documented.
    case capability
    /// The subject should keep the promise, but clients work with one that does not. Only checks of servers.
    case tolerated
    /// Violations are found only by repetition: random operations, kills, threads, many rows.
    case stress
    /// Violations are found only by amounts and waits that take minutes; see ``Profile/long``. The amounts are those of
    /// the promise for 100,000 ``ConformanceSettings/rows`` and in proportion to other numbers of rows.
    case long
}
