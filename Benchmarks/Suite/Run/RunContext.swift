#if Commands
internal import Foundation
internal import TidelineStore

/// The state that the parts of a run share; used on the run's thread only.
final class RunContext {
    let settings: BenchmarkSettings
    let collector: BenchmarkCollector
    let diskSpace: DiskSpace
    private let isCancelled: () -> Bool
    private let events: (BenchmarkEvent) -> Void
    private let total: Int
    private var done = 0

    /// - Parameter total: The sum of the weights of all iterations.
    init(
        _ run: BenchmarkRun, _ collector: BenchmarkCollector, total: Int, isCancelled: @escaping () -> Bool,
        events: @escaping (BenchmarkEvent) -> Void
    ) {
        settings = run.settings
        diskSpace = run.diskSpace
        self.collector = collector
        self.total = total
        self.isCancelled = isCancelled
        self.events = events
    }

    /// - Throws: `CancellationError` if the run is cancelled.
    func checkCancellation() throws { if isCancelled() { throw CancellationError() } }

    /// Reports a progress event.
    func report(_ kind: BenchmarkEvent.Kind) {
        events(BenchmarkEvent(kind: kind, share: total > 0 ? min(Double(done) / Double(total), 1) : 1))
    }

    /// Counts an iteration as done, or as skipped.
    func advance(by rows: Int) { done += Self.weight(rows) }

    /// The weight of an iteration in the progress: a constant part, and one that depends on the number of rows.
    static func weight(_ rows: Int) -> Int { rows + 2_000 }
}

/// The free disk space, and the space that a run needs.
struct DiskSpace {
    /// Returns the number of free bytes at a path, or `nil` if it is unknown.
    var freeBytes: @Sendable (_ path: String) -> Int? = { FileSystem.freeBytes(at: $0) }

    /// Estimates the maximum size of the databases of a number of subjects, in bytes.
    static func need(_ settings: BenchmarkSettings, workloads: (Int) -> [Workload], subjects: Int) -> Int {
        settings.rows.map { rows in
            let source = settings.source(rows: rows)
            let tables = maxTables(workloads(rows).map(\.start))
            // Random identifiers leave the pages of a tree two thirds full, and there is a log file. One database more
            // belongs to the current iteration.
            let databases = (subjects * tables + 1) * 2
            return rows * rowSize(source) * databases + subjects * 32 << 20
        }.max() ?? 0
    }

    /// Describes why a run does not fit on the disk, or returns `nil` if it fits.
    func shortage(of need: Int, at path: String) -> String? {
        guard let free = freeBytes(path), free < need else { return nil }
        return
            "not enough disk space: the databases need about \(Self.text(need)) in \(path.debugDescription), and "
            + "\(Self.text(free)) are free. Free some space, choose another --directory, or reduce --rows."
    }

    /// Whether an error means that the disk is full, and not that a limit of the store is reached.
    func isFull(_ error: any Error, at path: String) -> Bool {
        let isAboutSpace =
            (error as? StoreError)?.code == .full || (error as? POSIXError)?.code == .ENOSPC
            || (error as? CocoaError)?.code == .fileWriteOutOfSpace
        // A rolled-back transaction may have freed some space.
        return isAboutSpace && freeBytes(path).map { $0 < 256 << 20 } ?? true
    }

    /// The maximum number of tables that are loaded at the same time for each subject.
    static func maxTables(_ starts: [Workload.Start]) -> Int {
        let tables = starts.map { start in
            if case .loaded(let table) = start { table } else { nil as BenchmarkTable? }
        }
        return starts.indices.map { position in
            Set(tables[...position].compactMap(\.self)).intersection(tables[position...].compactMap(\.self)).count
        }.max() ?? 0
    }

    /// The size of a row's values, and an overhead.
    private static func rowSize(_ source: RowSource) -> Int {
        let values = source.values(0) + [.string("123e4567-e89b-12d3-a456-426614174000")]
        return values.reduce(32) { size, value in
            if case .string(let text) = value { size + text.utf8.count } else { size + 8 }
        }
    }

    private static func text(_ bytes: Int) -> String {
        bytes < 1 << 30 ? "\(bytes >> 20) MB" : String(format: "%.1f GB", Double(bytes) / Double(1 << 30))
    }
}
#endif
