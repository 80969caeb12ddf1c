#if Commands
internal import TidelineStore
internal import TidelineSupport

extension StoreWorkloads {
    var reading: [Workload] {
        [
            get(.view, .one, isQuick: true), get(.typed, .one), get(.record, .one), get(.row, .one),
            get(.view, .each, isQuick: true), miss(.one), miss(.each),
            scan(.view, isQuick: true), scan(.typed), scan(.record), scan(.row),
            largeRead,
        ]
    }

    private func get(_ access: Work.Access, _ transaction: Work.Transaction, isQuick: Bool = false) -> Workload {
        Workload(
            "get-\(transaction.rawValue)-\(access.rawValue)", .reading,
            "get by id, \(access.title), \(transaction.title)",
            explanation: "Reads random rows by id, \(transaction.title): \(access.explanation).",
            unit: "row", units: reads, isQuick: isQuick, start: .loaded(source.table),
            steps: [{ [.get(ids: ids(reads, pick: 1), access: access, transaction: transaction)] }])
    }

    private func miss(_ transaction: Work.Transaction) -> Workload {
        Workload(
            "get-miss-\(transaction.rawValue)", .reading, "get of missing ids, \(transaction.title)",
            explanation: "Looks up ids that no row has, \(transaction.title).",
            unit: "lookup", units: reads, start: .loaded(source.table),
            steps: [
                { [.get(ids: (rows..<rows + reads).map { source.id($0) }, access: .view, transaction: transaction)] }
            ])
    }

    private func scan(_ access: Work.Access, isQuick: Bool = false) -> Workload {
        Workload(
            "scan-\(access.rawValue)", .reading, "ordered scan, \(access.title)",
            explanation: "Reads all rows in order of id, in one transaction: \(access.explanation).",
            unit: "row", units: rows, isQuick: isQuick, start: .loaded(source.table), steps: [{ [.scan(access)] }])
    }
}

extension Work.Access {
    fileprivate var title: String {
        switch self {
        case .view: "borrowed bytes"
        case .typed: "typed columns"
        case .record: "records"
        case .row: "Row"
        }
    }

    fileprivate var explanation: String {
        switch self {
        case .view: "every value in place, text as bytes"
        case .typed: "every value through a typed column, text as String"
        case .record: "every row as a record, the app's type, which a TableRecord conformance decodes"
        case .row: "every value of a Row, by column name"
        }
    }
}

extension Work.Transaction {
    fileprivate var title: String {
        switch self {
        case .each: "each in its own transaction"
        case .one: "all in one transaction"
        }
    }
}

extension StoreWorkloads {
    var queries: [Workload] { [find(indexed), find(source), count(indexed), count(source)] }

    private static let limit = 50

    /// The number of queries, smaller without an index, because each query then reads all rows.
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
                Finds the first \(Self.limit) rows of one of \(source.lists) lists, ordered by another column, and reads them \
                in place, \(index) over both columns.
                """,
            unit: "query", units: count(of: source), isQuick: true, start: .loaded(source.table),
            steps: [{ [.find(filters(source), limit: Self.limit)] }])
    }

    private func count(_ source: RowSource) -> Workload {
        let index = source.table.isIndexed ? "with an index" : "without an index"
        return Workload(
            source.table.isIndexed ? "count-index" : "count-plain", .queries, "count of a filter, \(index)",
            explanation: "Counts the rows of one of \(source.lists) lists, \(index) that starts with the list.",
            unit: "query", units: count(of: source), start: .loaded(source.table),
            steps: [{ [.count(filters(source))] }])
    }

    var parallel: [Workload] { threadCounts.map { readers($0) } + [readersBesideWriter] }

    /// The numbers of threads: powers of two up to the maximum, and the maximum.
    private var threadCounts: [Int] {
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
            "get-threads-\(threads)", .parallel, "get by id, \(counted(threads, "thread"))",
            explanation: """
                \(threads) concurrent threads read random rows by id, each in its own transaction; the figure is for all \
                threads together.
                """,
            unit: "row", units: threads * reads, start: .loaded(source.table), steps: [{ reading(threads) }])
    }

    private var readersBesideWriter: Workload {
        let threads = min(max(settings.readers, 1), 4)
        let new = rows..<rows + min(max(rows / 10, 100), 10_000)
        return Workload(
            "get-beside-writer", .parallel,
            "get by id, \(counted(threads, "thread")) beside a writer",
            explanation: """
                \(threads) threads read rows by id, each in its own transaction, while another writes new rows, 100 in each \
                transaction; the figure is for all rows read and written, until the last thread is done.
                """,
            unit: "row", units: threads * reads + new.count, start: .loaded(source.table),
            steps: [{ [source] in reading(threads) + [.upsert(try source.batches(new, of: 100))] }],
            restore: { [deleting(new)] })
    }
}
#endif
