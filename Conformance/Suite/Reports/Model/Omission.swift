/// Checks that did not run for the same reason.
struct Omission {
    /// The stores on which they did not run.
    var stores: [String]
    /// ``CheckStatus/skipped`` or ``CheckStatus/notRun``.
    var status: CheckStatus
    /// The reason.
    var reason: String
    /// The identifiers of the checks.
    var ids: [String]

    /// Returns all omissions of a report, grouped by status, with the largest first. Stores with the same omissions are
    /// combined.
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
