internal import Synchronization
internal import TidelineStore

/// The policies for conflicts of a client, which grow with the merge rules of the records that are defined.
final class PolicyBook: Sendable {
    private struct State {
        var policies: ConflictPolicies
        var hasCheckedAll = false
    }

    private let state: Mutex<State>

    init(_ options: SyncOptions) { state = Mutex(State(policies: ConflictPolicies(options))) }

    var current: ConflictPolicies { state.withLock { $0.policies } }

    func policy(for table: String) -> ConflictPolicy { current.policy(for: table) }

    /// Returns the policies with the merge rules of records, by table.
    func adding(_ rules: [String: [String: MergeRule]], for tables: [TableSchema]) -> ConflictPolicies {
        var policies = current
        policies.add(rules, for: tables)
        return policies
    }

    /// Adds the merge rules of records that were defined.
    func add(_ rules: [String: [String: MergeRule]], for tables: [TableSchema]) {
        state.withLock { $0.policies.add(rules, for: tables) }
    }

    /// Throws if a policy names a table or column that is not defined. Succeeds without reading after the first
    /// success.
    func check(in database: SyncDatabase<some LocalStore>) async throws {
        let (policies, isChecked) = state.withLock { ($0.policies, $0.hasCheckedAll) }
        guard policies.areUsed, !isChecked else { return }
        try await database.performing { try policies.checkAll($0.tables().filter { !$0.isSystem }) }
        state.withLock { $0.hasCheckedAll = true }
    }
}

extension ConflictPolicies {
    fileprivate mutating func add(_ rules: [String: [String: MergeRule]], for tables: [TableSchema]) {
        for table in tables { if let rules = rules[table.name] { add(rules, for: table) } }
    }
}
