internal import Foundation
internal import TidelineBenchmark

/// One work on a database of its own.
struct ProbeRun {
    private let work: CountedWork
    private let subject: ProbeSubject
    private let source: RowSource
    private let rows: Int
    private let folder: String

    init(_ work: CountedWork, by subject: ProbeSubject, rows: Int, folder: String) {
        self.work = work
        self.subject = subject
        self.rows = rows
        self.folder = folder
        source = RowSource(table: BenchmarkTable(isIndexed: work.isIndexed), seed: 1, lists: max(rows / 100, 1))
    }

    /// Makes the database, prepares the work and calls `measure` with it.
    /// - Returns: How many units the work does.
    func run(_ measure: (() -> Void) -> Void) throws -> Int {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let session = try subject.make().open(BenchmarkOpening(directory: folder, table: source.table))
        let latencies = LatencySink()
        if work.isLoaded { try load(session, latencies) }
        let measured = try work.make(source, rows)
        var result: Result<Answer, any Error> = .success(Answer())
        measure { result = Result { try session.perform(measured.work, noting: latencies) } }
        let count = try result.get().count
        let expected = measured.answer ?? measured.units
        guard count == expected else { throw ProbeError("\(work.id) came to \(count) rows instead of \(expected)") }
        try session.close()
        return measured.units
    }

    /// Writes all rows and reads them from the files that they end up in, rather than from where they are written to first:
    /// what is kept in memory of them is there then.
    private func load(_ session: any BenchmarkSession, _ latencies: LatencySink) throws {
        let ids = (0..<rows).map { source.id($0) }
        var works: [Work] = [.upsert(try source.batches(0..<rows, of: 1000))]
        if subject.isPersistent { works.append(.reopen(times: 1, id: ids[0])) }
        works += [.scan(.view), .get(ids: ids, access: .view, transaction: .one)]
        for work in works { _ = try session.perform(work, noting: latencies) }
    }
}

/// What went wrong, for the script that runs the probe.
struct ProbeError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
