/// What one subject took of disk and memory with one number of rows.
struct StorageFigures {
    /// Who it is.
    var subject: SubjectDescription
    /// How many rows the table had.
    var rows: Int
    /// The most that the files had after a workload, of each the median of its repetitions.
    var fileSize: Int?
    /// The most that they had after a workload when they had been compacted.
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
        Files: the most they had after a workload, as they were and compacted. Written: bytes given to the disk by bulk \
        upsert. Peak memory: the most that the process grew by in a workload.
        """

    /// All of a report, by number of rows, of those of which anything is known.
    static func all(of report: BenchmarkReport) -> [StorageFigures] {
        Set(report.results.map(\.rows)).sorted().flatMap { rows in
            report.subjects.map { StorageFigures($0, rows: rows, report.results.filter { $0.rows == rows }) }
        }.filter { figures in columns.contains { $0.value(figures) != nil } }
    }

    private init(_ subject: SubjectDescription, rows: Int, _ results: [WorkloadResult]) {
        self.subject = subject
        self.rows = rows
        let own = results.compactMap { workload in
            workload.subjects.first { $0.subject == subject.name && $0.failure == nil }.map { (workload, $0) }
        }
        fileSize = own.compactMap { Self.median($0.1, \.fileSize) }.max()
        compactedSize = own.compactMap(\.1.compactedSize).max()
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
