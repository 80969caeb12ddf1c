internal import TidelineStore

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
