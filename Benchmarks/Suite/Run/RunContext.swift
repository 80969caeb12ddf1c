internal import Foundation
internal import TidelineStore

/// What the parts of a run have in common; it belongs to the run's thread.
final class Conduct {
    let settings: BenchmarkSettings
    let collector: BenchmarkCollector
    let room: DiskRoom
    private let isCancelled: () -> Bool
    private let note: (BenchmarkEvent) -> Void
    private let total: Int
    private var done = 0

    /// - Parameter total: The sum of what ``advance(by:)`` will be told.
    init(
        _ run: BenchmarkRun, _ collector: BenchmarkCollector, total: Int, isCancelled: @escaping () -> Bool,
        note: @escaping (BenchmarkEvent) -> Void
    ) {
        settings = run.settings
        room = run.room
        self.collector = collector
        self.total = total
        self.isCancelled = isCancelled
        self.note = note
    }

    /// - Throws: `CancellationError` when the run is to end.
    func confirm() throws { if isCancelled() { throw CancellationError() } }

    /// Tells what happens now.
    func tell(_ kind: BenchmarkEvent.Kind) {
        note(BenchmarkEvent(kind: kind, share: total > 0 ? min(Double(done) / Double(total), 1) : 1))
    }

    /// Counts a repetition over so many rows as done, or as not coming any more.
    func advance(by rows: Int) { done += Self.weight(rows) }

    /// What a repetition weighs: it takes some time however few rows there are.
    static func weight(_ rows: Int) -> Int { rows + 2_000 }
}

/// Whether the disk has room for a run.
struct DiskRoom {
    /// How many bytes are free at a path; nil when it is not known.
    var freeBytes: @Sendable (_ path: String) -> Int? = { FileSystem.freeBytes(at: $0) }

    /// About how many bytes the databases of so many subjects take at their most.
    static func need(_ settings: BenchmarkSettings, workloads: (Int) -> [Workload], subjects: Int) -> Int {
        settings.rows.map { rows in
            let source = settings.source(rows: rows)
            let tables = mostTables(workloads(rows).map(\.start))
            // A tree of pages that are filled by random ids is two thirds full, and there is a log beside it. One more is
            // there for a repetition.
            let databases = (subjects * tables + 1) * 2
            return rows * rowSize(source) * databases + subjects * 32 << 20
        }.max() ?? 0
    }

    /// Why a run would not have room; nil when it has.
    func lack(of need: Int, at path: String) -> String? {
        guard let free = freeBytes(path), free < need else { return nil }
        return
            "the databases take about \(Self.text(need)) in \(path.debugDescription), where \(Self.text(free)) are free. "
            + "Make room, name a folder elsewhere with --directory, or measure fewer --rows."
    }

    /// Whether an error is about a disk without room, rather than about a limit of the store's own.
    func isFull(_ error: any Error, at path: String) -> Bool {
        let isAboutRoom =
            (error as? StoreError)?.code == .full || (error as? POSIXError)?.code == .ENOSPC
            || (error as? CocoaError)?.code == .fileWriteOutOfSpace
        // A transaction that was taken back may have left some.
        return isAboutRoom && freeBytes(path).map { $0 < 256 << 20 } ?? true
    }

    /// The most tables that are loaded at a time, for each subject.
    static func mostTables(_ starts: [Workload.Start]) -> Int {
        let tables = starts.map { start in if case .loaded(let table) = start { table } else { nil as BenchmarkTable? }
        }
        return starts.indices.map { place in
            Set(tables[...place].compactMap(\.self)).intersection(tables[place...].compactMap(\.self)).count
        }.max() ?? 0
    }

    /// The bytes of a row's values, and some around them.
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
