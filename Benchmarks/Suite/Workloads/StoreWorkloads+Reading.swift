internal import TidelineStore

extension StoreWorkloads {
    var reading: [Workload] {
        [
            get(.view, .one, isQuick: true), get(.typed, .one), get(.row, .one), get(.view, .each, isQuick: true),
            miss(.one), miss(.each),
            scan(.view, isQuick: true), scan(.typed), scan(.row),
            largeRead,
        ]
    }

    private func get(
        _ access: Work.Access, _ transaction: Work.Transaction, isQuick: Bool = false
    ) -> Workload {
        Workload(
            "get-\(transaction.rawValue)-\(access.rawValue)", .reading,
            "get by id, \(access.title), \(transaction.title)",
            explanation: "Rows are read by id, picked at random, \(transaction.title): \(access.explanation).",
            unit: "row", units: reads, isQuick: isQuick, start: .loaded(source.table),
            steps: [{ [.get(ids: ids(reads, pick: 1), access: access, transaction: transaction)] }])
    }

    private func miss(_ transaction: Work.Transaction) -> Workload {
        Workload(
            "get-miss-\(transaction.rawValue)", .reading, "get by id that no row has, \(transaction.title)",
            explanation: "Rows are looked up by ids that no row has, \(transaction.title).",
            unit: "look-up", units: reads, start: .loaded(source.table),
            steps: [
                {
                    let ids = (rows..<rows + reads).map { source.id($0) }
                    return [.get(ids: ids, access: .view, transaction: transaction)]
                }
            ])
    }

    private func scan(_ access: Work.Access, isQuick: Bool = false) -> Workload {
        Workload(
            "scan-\(access.rawValue)", .reading, "ordered scan, \(access.title)",
            explanation: "All rows are read in order of id, in one transaction: \(access.explanation).",
            unit: "row", units: rows, isQuick: isQuick, start: .loaded(source.table), steps: [{ [.scan(access)] }])
    }
}

extension Work.Access {
    fileprivate var title: String {
        switch self {
        case .view: "borrowed bytes"
        case .typed: "typed columns"
        case .row: "Row"
        }
    }

    fileprivate var explanation: String {
        switch self {
        case .view: "every value where it lies, texts as bytes, without a copy"
        case .typed: "every value by a column of its type, texts as Swift strings"
        case .row: "each as a Row of its own, every value by the column's name"
        }
    }
}

extension Work.Transaction {
    fileprivate var title: String {
        switch self {
        case .each: "each in a transaction of its own"
        case .one: "all in one transaction"
        }
    }
}
