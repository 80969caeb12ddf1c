#if Commands
internal import TidelineSupport

/// The disk and memory use of a subject with one number of rows.
struct StorageFigures {
    /// The subject.
    var subject: SubjectDescription
    /// The number of rows in the table.
    var rows: Int
    /// The size of the database with all rows.
    var fileSize: Int?
    /// The size after compaction.
    var compactedSize: Int?
    /// The number of bytes written for each row in the first workload that writes.
    var writtenPerUnit: Int?
    /// The maximum over all workloads of the median memory growth.
    var peakMemory: Int?

    private static let columns: [(title: String, value: @Sendable (StorageFigures) -> Int?)] = [
        ("files", { $0.fileSize }), ("compacted", { $0.compactedSize }), ("written per row", { $0.writtenPerUnit }),
        ("peak memory", { $0.peakMemory }),
    ]

    /// The meaning of the columns.
    static let explanation = """
        Files: the database with all rows after all workloads, before and after compaction. Written: bytes written by bulk \
        upsert. Peak memory: the largest growth of the process in a workload.
        """

    /// A table of all figures: rows, store, and the columns that have any values. `nil` if there are no figures.
    static func table(of report: BenchmarkReport) -> Table? {
        let all = all(of: report)
        let columns = columns.filter { column in all.contains { column.value($0) != nil } }
        guard !all.isEmpty else { return nil }
        let rows = all.map { figures in
            let cells = columns.map { $0.value(figures).map(FigureFormat.bytes) ?? "–" }
            return Table.Row(([FigureFormat.count(figures.rows), figures.subject.name] + cells).map { RichText($0) })
        }
        return Table(
            "Files and memory", heading: ["rows", "store"] + columns.map(\.title), rows: rows,
            numbers: Set([0] + Array(2..<columns.count + 2)))
    }

    /// The figures of a report that have any value, by number of rows.
    static func all(of report: BenchmarkReport) -> [StorageFigures] {
        Set(report.results.map(\.rows)).sorted().flatMap { rows in
            report.subjects.map { StorageFigures($0, rows: rows, report) }
        }.filter { figures in columns.contains { $0.value(figures) != nil } }
    }

    private init(_ subject: SubjectDescription, rows: Int, _ report: BenchmarkReport) {
        self.subject = subject
        self.rows = rows
        let own = report.results.filter { $0.rows == rows }.compactMap { workload in
            workload.subjects.first { $0.subject == subject.name && $0.failure == nil }.map { (workload, $0) }
        }
        let sizes = report.sizes.filter { $0.rows == rows && $0.subject == subject.name }
        let size = sizes.first { !$0.isIndexed } ?? sizes.first
        fileSize = size?.bytes
        compactedSize = size?.compactedBytes
        peakMemory = own.compactMap { Self.median($0.1, \.peakMemory) }.max()
        writtenPerUnit =
            own.lazy.filter { $0.0.group == .writing && $0.0.unit == "row" && $0.0.units > 0 }
            .compactMap { workload, result in Self.median(result, \.bytesWritten).map { $0 / workload.units } }.first
    }

    private static func median(_ result: SubjectResult, _ path: any KeyPath<Sample, Int?> & Sendable) -> Int? {
        Spread(result.samples.compactMap { $0[keyPath: path].map(Double.init) }).flatMap {
            Int(exactly: $0.median.rounded())
        }
    }
}
#endif
