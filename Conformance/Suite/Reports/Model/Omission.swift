/// Checks that did not run, for one reason.
struct Omission {
    /// The stores on which they did not.
    var stores: [String]
    /// ``CheckStatus/skipped`` or ``CheckStatus/notRun``.
    var status: CheckStatus
    /// Why.
    var reason: String
    /// Which checks.
    var ids: [String]

    /// All of a report: for each status, what concerns most checks first; stores that omit the same are told of together.
    static func all(of report: ConformanceReport) -> [Omission] {
        let all = [CheckStatus.skipped, .notRun].flatMap { status in
            let omissions = report.stores.flatMap { Omission.all(of: $0, status) }
            return omissions.sorted { ($1.ids.count, $0.reason) < ($0.ids.count, $1.reason) }
        }
        return all.reduce(into: []) { merged, omission in
            let same = merged.firstIndex { other in
                (other.status, other.reason) == (omission.status, omission.reason) && other.ids == omission.ids
            }
            if let same { merged[same].stores += omission.stores } else { merged.append(omission) }
        }
    }

    private static func all(of store: StoreReport, _ status: CheckStatus) -> [Omission] {
        let reasons = Dictionary(grouping: store.results.filter { $0.status == status }) { $0.reason ?? "" }
        return reasons.map { Omission(stores: [store.name], status: status, reason: $0, ids: $1.map(\.id)) }
    }
}
