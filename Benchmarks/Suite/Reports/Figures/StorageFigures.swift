/// What one subject took of disk and memory with one number of rows.
struct StorageFigures {
    /// Who it is.
    var subject: SubjectDescription
    /// How many rows the table had.
    var rows: Int
    /// What the files of the database came to that holds all rows.
    var fileSize: Int?
    /// The same when they had been compacted.
    var compactedSize: Int?
    /// How many bytes were given to the disk for each unit of the first workload that writes.
    var writtenPerUnit: Int?
    /// The most by which the process' memory grew in a workload, of each the median of its repetitions.
    var peakMemory: Int?

    /// A figure's name, and the figure.
    typealias Column = (title: String, value: @Sendable (StorageFigures) -> Int?)

    /// What the figures are called, and how to get at them, in the order of the columns.
    static let columns: [Column] = [
        ("files", { $0.fileSize }), ("compacted", { $0.compactedSize }), ("written per row", { $0.writtenPerUnit }),
        ("peak memory", { $0.peakMemory }),
    ]

    /// What the columns mean, in a sentence.
    static let explanation = """
        Files: the database with all rows after all workloads, as it was and compacted. Written: bytes given to the disk \
        by bulk upsert. Peak memory: the most that the process grew by in a workload.
        """

    /// All of a report, by number of rows, of those of which anything is known.
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

    private static func median(_ result: SubjectResult, _ path: KeyPath<Sample, Int?> & Sendable) -> Int? {
        Spread(result.samples.compactMap { $0[keyPath: path].map(Double.init) }).flatMap {
            Int(exactly: $0.median.rounded())
        }
    }
}
