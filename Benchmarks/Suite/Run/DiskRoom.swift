internal import Foundation
internal import TidelineStore

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
