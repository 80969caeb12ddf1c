internal import Foundation
internal import TidelineBenchmark

/// One work on a database of its own.
struct ProbeRun {
    private let work: CountedWork
    private let subject: BenchmarkSubject
    private let source: RowSource
    private let rows: Int
    private let folder: String

    init(_ work: CountedWork, by subject: BenchmarkSubject, rows: Int, folder: String) {
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
        let session = try subject.open(BenchmarkOpening(directory: folder, table: source.table))
        let latencies = LatencySink()
        for work in try work.prepare(source, rows) { _ = try session.perform(work, noting: latencies) }
        let counted = try work.make(source, rows)
        var result: Result<Answer, any Error> = .success(Answer())
        measure { result = Result { try session.perform(counted, noting: latencies) } }
        let answer = try result.get()
        let expected = work.expected(rows)
        guard answer.count == expected else {
            throw ProbeError("\(work.id) came to \(answer.count) rows instead of \(expected)")
        }
        try session.close()
        return work.units(rows)
    }
}

/// What went wrong, for the script that runs the probe.
struct ProbeError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
