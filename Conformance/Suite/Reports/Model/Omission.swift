/// The checks of a store that did not run, for one reason.
struct Omission {
    /// ``CheckStatus/skipped`` or ``CheckStatus/notRun``.
    var status: CheckStatus
    /// Why.
    var reason: String
    /// Which checks.
    var ids: [String]

    /// All of a store, a reason at a time.
    static func all(of store: StoreReport) -> [Omission] {
        [CheckStatus.skipped, .notRun].flatMap { status in
            let omitted = store.results.filter { $0.status == status }
            let reasons = Dictionary(grouping: omitted) { $0.reason ?? "" }
            return reasons.map { Omission(status: status, reason: $0, ids: $1.map(\.id)) }
                .sorted { ($1.ids.count, $0.reason) < ($0.ids.count, $1.reason) }
        }
    }
}
