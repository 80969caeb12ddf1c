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

extension StoreWorkloads {
    var queries: [Workload] { [find(indexed), find(source), count(indexed), count(source)] }

    private static let limit = 50

    /// How many queries are done: each looks at all rows where there is no index.
    private func count(of source: RowSource) -> Int {
        operations(source.table.isIndexed ? 500 : min(max(1_000_000 / rows, 1), 50))
    }

    private func filters(_ source: RowSource) -> [RowFilter] {
        var random = random(2)
        return (0..<count(of: source)).map { _ in source.filter(Int.random(in: 0..<source.lists, using: &random)) }
    }

    private func find(_ source: RowSource) -> Workload {
        let index = source.table.isIndexed ? "with an index" : "without an index"
        return Workload(
            source.table.isIndexed ? "find-index" : "find-plain", .queries,
            "filter, order, first \(Self.limit), \(index)",
            explanation: """
                The first \(Self.limit) rows of one of \(source.lists) lists in the order of another column, read where \
                they lie, \(index) over both columns.
                """,
            unit: "query", units: count(of: source), isQuick: true, start: .loaded(source.table),
            steps: [{ [.find(filters(source), limit: Self.limit)] }])
    }

    private func count(_ source: RowSource) -> Workload {
        let index = source.table.isIndexed ? "with an index" : "without an index"
        return Workload(
            source.table.isIndexed ? "count-index" : "count-plain", .queries, "count of a filter, \(index)",
            explanation: "How many rows are in one of \(source.lists) lists, \(index) that begins with the list.",
            unit: "query", units: count(of: source), start: .loaded(source.table),
            steps: [{ [.count(filters(source))] }])
    }
}

extension StoreWorkloads {
    var parallel: [Workload] { teams.map { readers($0) } + [readersBesideWriter] }

    /// The numbers of threads: doubled up to the most that are asked for.
    private var teams: [Int] {
        let most = max(settings.readers, 1)
        let doubled = sequence(first: 1) { $0 * 2 }.prefix { $0 < most }
        return doubled + [most]
    }

    private func reading(_ threads: Int) -> [Work] {
        (0..<threads).map { thread in
            .get(ids: ids(reads, pick: 100 + UInt64(thread)), access: .view, transaction: .each)
        }
    }

    private func readers(_ threads: Int) -> Workload {
        Workload(
            "get-threads-\(threads)", .parallel, "get by id, \(threads) thread\(threads == 1 ? "" : "s")",
            explanation: """
                Each of \(threads) threads reads rows by id, picked at random, each in a transaction of its own; the \
                figure is of all together.
                """,
            unit: "row", units: threads * reads, start: .loaded(source.table), steps: [{ reading(threads) }])
    }

    private var readersBesideWriter: Workload {
        let threads = min(max(settings.readers, 1), 4)
        let new = rows..<rows + min(max(rows / 10, 100), 10_000)
        return Workload(
            "get-beside-writer", .parallel,
            "get by id, \(threads) thread\(threads == 1 ? "" : "s") beside a writer",
            explanation: """
                \(threads) threads read rows by id, each in a transaction of its own, while another writes new rows, 100 \
                in each transaction; the figure is of all rows read and written, until the last thread is done.
                """,
            unit: "row", units: threads * reads + new.count, start: .loaded(source.table),
            steps: [{ [source] in reading(threads) + [.upsert(try source.batches(new, of: 100))] }],
            restore: { [deleting(new)] })
    }
}
