internal import Foundation
internal import TidelineBenchmark

/// One workload on a database of its own.
struct ProbeRun {
    private let workload: Workload
    private let subject: BenchmarkSubject
    private let settings: BenchmarkSettings
    private let rows: Int
    private let folder: String

    init(_ work: CountedWork, by subject: ProbeSubject, rows: Int, folder: String) throws {
        settings = BenchmarkSettings(rows: [rows], isQuick: true)
        guard let workload = Workload.all(settings, rows: rows).first(where: { $0.id == work.id }) else {
            throw ProbeError("the benchmark has no workload \(work.id)")
        }
        self.workload = workload
        self.subject = try subject.make()
        self.rows = rows
        self.folder = folder
    }

    /// Makes the database, prepares the work and calls `measure` with it.
    /// - Returns: How many units the work does.
    func run(_ measure: (() -> Void) -> Void) throws -> Int {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let session = try open()
        let latencies = LatencySink()
        for work in try workload.prepare() { _ = try session.perform(work, noting: latencies) }
        var units: Int?
        for step in workload.steps {
            for work in try step() {
                let (work, partOfUnits) = work.shortened
                if let partOfUnits { units = (units ?? 0) + partOfUnits }
                var result: Result<Answer, any Error> = .success(Answer())
                try session.prepare(work)
                measure { result = Result { try session.perform(work, noting: latencies) } }
                guard try result.get().count > 0 else { throw ProbeError("\(workload.id) came to nothing") }
            }
        }
        try session.close()
        return units ?? workload.units
    }

    /// Opens the database as the workload finds it.
    private func open() throws -> any BenchmarkSession {
        switch workload.start {
        case .empty(let table): return try subject.open(BenchmarkOpening(directory: folder, table: table))
        case .loaded(let table):
            let session = try subject.open(BenchmarkOpening(directory: folder, table: table))
            try load(session, settings.source(rows: rows, isIndexed: table.isIndexed))
            return session
        }
    }

    /// Writes all rows and reads them from the files that they end up in, rather than from where they are written to first:
    /// what is kept in memory of them is there then.
    private func load(_ session: any BenchmarkSession, _ source: RowSource) throws {
        let ids = (0..<rows).map { source.id($0) }
        var works: [Work] = [.upsert(try source.batches(0..<rows, of: settings.batch))]
        if subject.isPersistent { works.append(.reopen(times: 1, id: ids[0])) }
        works += [.scan(.view), .get(ids: ids, access: .view, transaction: .one)]
        for work in works { _ = try session.perform(work, noting: LatencySink()) }
    }
}

/// What went wrong, for the script that runs the probe.
struct ProbeError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
