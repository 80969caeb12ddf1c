#if Commands
import Foundation
import Synchronization
import TidelineStore
import TidelineSupport

@testable import TidelineBenchmark

/// The calls of the sessions of a test, in order.
final class Log: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ line: String) { list.withLock { $0.append(line) } }
    var lines: [String] { list.withLock(\.self) }
    /// The lines that contain a text.
    func lines(with text: String) -> [String] { lines.filter { $0.contains(text) } }
}

/// A subject that records its calls and answers with a closure.
func recordingSubject(
    _ name: String, _ log: Log, field: Workload.Field = .databases, isPersistent: Bool = false,
    compact: (@Sendable (String) throws -> Void)? = nil,
    answering: @escaping @Sendable (Work) throws -> Answer = { _ in Answer(count: 1) }
) -> BenchmarkSubject {
    BenchmarkSubject(
        name: name, kind: .store, engine: name, durability: .none, isPersistent: isPersistent, compact: compact
    ) { opening in
        log.add("\(name) open\(opening.table.isIndexed ? " indexed" : "")")
        try Data("rows".utf8).write(to: URL(fileURLWithPath: opening.directory + "/file"))
        return RecordingSession(name: name, log: log, answering: answering)
    }.performing(field)
}

private final class RecordingSession: BenchmarkSession {
    let name: String
    let log: Log
    let answering: @Sendable (Work) throws -> Answer

    init(name: String, log: Log, answering: @escaping @Sendable (Work) throws -> Answer) {
        self.name = name
        self.log = log
        self.answering = answering
    }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        log.add("\(name) \(work.word)")
        latencies.note(nanoseconds: 1000)
        if case .upsert(let batches) = work { return Answer(count: batches.reduce(0) { $0 + $1.packed.count }) }
        return try answering(work)
    }

    func close() { log.add("\(name) close") }
}

extension Work {
    /// The text for the log, with the number of the work.
    var word: String {
        switch self {
        case .reopen(let times, _): "reopen \(times)"
        case .upsert: "upsert"
        case .find(_, let limit): "find \(limit)"
        case .scan: "scan"
        case .delete: "delete"
        default: "other"
        }
    }

    /// Work with a number.
    static func numbered(_ number: Int) -> Work { .find([], limit: number) }
}

extension Workload {
    /// A workload that prepares with work 1, performs 2, and restores with 3.
    static func test(
        _ id: String = "test", field: Field = .databases, start: Start = .empty(BenchmarkTable()),
        steps: [WorkMaker] = [{ [.numbered(2)] }]
    ) -> Workload {
        Workload(
            id, .reading, id, explanation: "", unit: "row", units: 10, field: field, start: start,
            prepare: { [.numbered(1)] }, steps: steps, restore: { [.numbered(3)] })
    }
}

/// A run of recording subjects in a new directory.
struct TestRun {
    var run: BenchmarkRun
    let root: URL

    init(_ subjects: [BenchmarkSubject], _ workloads: [Workload], settings: BenchmarkSettings = .test()) throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("tideline-run-\(UUID().uuidString)")
        run = BenchmarkRun(settings, subjects: subjects, folder: try BenchmarkFolder(path: root.path))
        run.workloads = { _ in workloads }
        run.reference = nil
    }

    /// Performs the run, ends its directory, and returns the report.
    func report(
        isCancelled: @escaping () -> Bool = { false }, events: @escaping (BenchmarkEvent) -> Void = { _ in }
    ) -> BenchmarkReport {
        let collector = BenchmarkCollector(run, environment: .test)
        run.run(collector, isCancelled: isCancelled, events: events)
        run.folder.end()
        return collector.report()
    }
}

extension BenchmarkSettings {
    /// Returns settings with a few rows, three repetitions and no warm-up, unless others are given.
    static func test(
        rows: [Int] = [100], repetitions: Int = 3, warmUp: Int = 0, verifiesAll: Bool = false
    ) -> BenchmarkSettings {
        BenchmarkSettings(rows: rows, repetitions: repetitions, warmUp: warmUp, verifiesAll: verifiesAll)
    }
}

extension BenchmarkEnvironment {
    static var test: BenchmarkEnvironment {
        BenchmarkEnvironment(host: .current, processor: "one", memory: 1, fileSystem: "one", commit: nil)
    }
}
#endif
