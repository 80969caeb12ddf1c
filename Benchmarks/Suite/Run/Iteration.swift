#if Commands
internal import Foundation
internal import Histogram
internal import Synchronization

/// One iteration of a workload by one subject: preparation, the timed steps, and restoration.
struct Iteration {
    let works: WorkCache
    /// Whether to read all rows after the steps, and again after restoration.
    let readsAllRows: Bool

    /// The result of an iteration.
    struct Outcome {
        var sample: Sample
        var answer: Answer
        var latencies: LatencyHistogram
        /// The answers to reading all rows, in order of time.
        var allRows: [Answer] = []
    }

    /// Performs the iteration on the database that the workload starts with.
    func perform(by subject: Subject) throws -> Outcome {
        switch works.workload.start {
        case .loaded(let table):
            guard let database = subject.loaded[table] else { throw BenchmarkError("the database is not loaded") }
            return try perform(on: database, of: subject)
        case .empty(let table):
            let database = try subject.makeDatabase(table)
            let outcome = try perform(on: database, of: subject)
            try subject.remove(database)
            return outcome
        }
    }

    private func perform(on database: Subject.Database, of subject: Subject) throws -> Outcome {
        var isTouched = false
        do {
            return try perform(on: database, &isTouched)
        } catch {
            // Only a loaded database on which no work was done can be used again.
            let isLoaded = subject.loaded[database.table]?.directory == database.directory
            if !isLoaded || isTouched || !(error is WorkNotApplicable) { subject.discard(database) }
            throw error
        }
    }

    private func perform(on database: Subject.Database, _ isTouched: inout Bool) throws -> Outcome {
        let session = database.session
        for work in try works.prepare() {
            _ = try session.perform(work)
            isTouched = true
        }
        // Earlier writes must not reach the disk while the steps are measured.
        FileSystem.flush(database.directory)
        var steps = MeasuredSteps()
        for index in works.workload.steps.indices {
            try steps.perform(try works.step(index), on: session)
            isTouched = true
        }
        let stopwatch = steps.stopwatch
        let sample = Sample(
            seconds: stopwatch.seconds, cpuSeconds: stopwatch.cpuSeconds, peakMemory: stopwatch.peakMemory,
            bytesWritten: stopwatch.bytesWritten, fileSize: FileSystem.size(ofFolder: database.directory))
        var outcome = Outcome(sample: sample, answer: steps.answer, latencies: steps.latencies)
        if readsAllRows { outcome.allRows.append(try Self.allRows(session)) }
        for work in try works.restore() { _ = try session.perform(work) }
        if readsAllRows { outcome.allRows.append(try Self.allRows(session)) }
        return outcome
    }

    private static func allRows(_ session: any BenchmarkSession) throws -> Answer {
        try session.perform(.scan(.view))
    }
}

/// The measurements of the steps of an iteration.
private struct MeasuredSteps {
    private(set) var stopwatch = Stopwatch()
    private(set) var answer = Answer()
    private(set) var latencies = LatencySink.makeHistogram()

    /// Performs and measures the works of a step, each on its own thread if there is more than one.
    mutating func perform(_ works: [Work], on session: any BenchmarkSession) throws {
        for work in works { try session.prepare(work) }
        if works.count > 1 { return try performConcurrently(works, on: session) }
        for work in works {
            let sink = LatencySink()
            let part = Stopwatch.begin()
            let answer = try session.perform(work, noting: sink)
            stopwatch.end(part)
            self.answer += answer
            latencies.add(sink.histogram)
        }
    }

    private mutating func performConcurrently(_ works: [Work], on session: any BenchmarkSession) throws {
        let outcomes = Outcomes()
        let (ready, start) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (done, recorded) = (DispatchGroup(), DispatchGroup())
        for work in works {
            done.enter()
            recorded.enter()
            Thread.detachNewThread {
                let sink = LatencySink()
                ready.signal()
                start.wait()
                let answer = Result { try session.perform(work, noting: sink) }
                done.leave()
                // Building the histogram is not part of the measured time.
                outcomes.add(answer, sink.histogram)
                recorded.leave()
            }
        }
        for _ in works { ready.wait() }
        let part = Stopwatch.begin()
        for _ in works { start.signal() }
        done.wait()
        stopwatch.end(part)
        recorded.wait()
        for (answer, histogram) in outcomes.all {
            self.answer += try answer.get()
            latencies.add(histogram)
        }
    }

    /// The results of the threads of a step.
    private final class Outcomes: Sendable {
        private let list = Mutex<[(Result<Answer, any Error>, LatencyHistogram)]>([])

        func add(_ answer: Result<Answer, any Error>, _ histogram: LatencyHistogram) {
            list.withLock { $0.append((answer, histogram)) }
        }

        var all: [(Result<Answer, any Error>, LatencyHistogram)] { list.withLock { $0 } }
    }
}

/// The works of a workload, made once and performed by every subject in every iteration; used on the run's thread only.
final class WorkCache {
    /// Above this number of rows, works are made again for each use to save memory.
    private static let maxRows = 1_000_000

    private enum Part: Hashable {
        case prepare
        case step(Int)
        case restore
    }

    let workload: Workload
    private let isEnabled: Bool
    private var cached: [Part: [Work]] = [:]

    init(_ workload: Workload, rows: Int) {
        self.workload = workload
        isEnabled = rows <= Self.maxRows
    }

    func prepare() throws -> [Work] { try works(.prepare, workload.prepare) }
    func step(_ index: Int) throws -> [Work] { try works(.step(index), workload.steps[index]) }
    func restore() throws -> [Work] { try works(.restore, workload.restore) }

    private func works(_ part: Part, _ make: Workload.WorkMaker) throws -> [Work] {
        if let works = cached[part] { return works }
        let works = try make()
        if isEnabled { cached[part] = works }
        return works
    }
}
#endif
