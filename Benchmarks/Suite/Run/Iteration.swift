internal import Foundation
internal import Synchronization

/// One repetition of a workload by one subject: preparing, the steps that are timed, restoring.
struct Repetition {
    let works: WorkSet
    /// Whether all rows are read after the steps, and after restoring.
    let readsAllRows: Bool

    /// What came of it.
    struct Outcome {
        var sample: Sample
        var answer: Answer
        var latencies: LatencyHistogram
        /// What all rows came to, whenever they were read.
        var allRows: [Answer] = []
    }

    /// Does it on the database that the workload begins with.
    func perform(by participant: Participant) throws -> Outcome {
        switch works.workload.start {
        case .loaded(let table):
            guard let database = participant.loaded[table] else { throw BenchmarkError("there is no loaded database") }
            return try perform(on: database, of: participant)
        case .empty(let table):
            let database = try participant.makeDatabase(table)
            let outcome = try perform(on: database, of: participant)
            try participant.remove(database)
            return outcome
        }
    }

    private func perform(on database: Participant.Database, of participant: Participant) throws -> Outcome {
        var isTouched = false
        do {
            return try perform(on: database, &isTouched)
        } catch {
            var isEmpty = false
            if case .empty = works.workload.start { isEmpty = true }
            // Only a database on which nothing was done is what it was.
            if isEmpty || isTouched || !(error is WorkNotApplicable) { participant.discard(database) }
            throw error
        }
    }

    private func perform(on database: Participant.Database, _ isTouched: inout Bool) throws -> Outcome {
        let session = database.session
        for work in try works.prepare() {
            _ = try session.perform(work, noting: LatencySink())
            isTouched = true
        }
        // What was written before is not written back meanwhile, at the cost of who is measured now.
        FileSystem.flush(database.directory)
        var (meter, step) = (Meter(), Step.Outcome())
        for index in works.workload.steps.indices {
            try Step.perform(try works.step(index), on: session, &meter, &step)
            isTouched = true
        }
        var outcome = Outcome(
            sample: Sample(meter, fileSize: FileSize.bytes(inFolder: database.directory)), answer: step.answer,
            latencies: step.latencies)
        if readsAllRows { outcome.allRows.append(try Self.allRows(session)) }
        for work in try works.restore() { _ = try session.perform(work, noting: LatencySink()) }
        if readsAllRows { outcome.allRows.append(try Self.allRows(session)) }
        return outcome
    }

    private static func allRows(_ session: any BenchmarkSession) throws -> Answer {
        try session.perform(.scan(.view), noting: LatencySink())
    }
}

extension Sample {
    /// What was measured.
    fileprivate init(_ meter: Meter, fileSize: Int) {
        self.init(
            seconds: meter.seconds, cpuSeconds: meter.cpuSeconds, peakMemory: meter.peakMemory,
            bytesWritten: meter.bytesWritten, fileSize: fileSize)
    }
}

/// The works of a step, done at once.
enum Step {
    /// What was done.
    struct Outcome {
        var answer = Answer()
        var latencies = LatencySink.makeHistogram()
    }

    /// Does the works, each on a thread of its own if there are several, and measures that.
    static func perform(
        _ works: [Work], on session: any BenchmarkSession, _ meter: inout Meter, _ outcome: inout Outcome
    ) throws {
        for work in works { try session.prepare(work) }
        if works.count > 1 { return try performAtOnce(works, on: session, &meter, &outcome) }
        for work in works {
            let sink = LatencySink()
            let part = Meter.begin()
            let answer = try session.perform(work, noting: sink)
            meter.end(part)
            outcome.answer += answer
            outcome.latencies.add(sink.histogram)
        }
    }

    private static func performAtOnce(
        _ works: [Work], on session: any BenchmarkSession, _ meter: inout Meter, _ outcome: inout Outcome
    ) throws {
        let outcomes = Outcomes()
        let (ready, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (ended, told) = (DispatchGroup(), DispatchGroup())
        for work in works {
            ended.enter()
            told.enter()
            Thread.detachNewThread {
                let sink = LatencySink()
                ready.signal()
                gate.wait()
                let answer = Result { try session.perform(work, noting: sink) }
                ended.leave()
                // What was noted is sorted in when the time has been taken.
                outcomes.add(answer, sink.histogram)
                told.leave()
            }
        }
        for _ in works { ready.wait() }
        let part = Meter.begin()
        for _ in works { gate.signal() }
        ended.wait()
        meter.end(part)
        told.wait()
        for (answer, histogram) in outcomes.all {
            outcome.answer += try answer.get()
            outcome.latencies.add(histogram)
        }
    }

    /// What the threads of a step came to.
    private final class Outcomes: Sendable {
        private typealias One = (Result<Answer, any Error>, LatencyHistogram)
        private let list = Mutex<[One]>([])

        func add(_ answer: Result<Answer, any Error>, _ histogram: LatencyHistogram) {
            list.withLock { $0.append((answer, histogram)) }
        }

        var all: [(Result<Answer, any Error>, LatencyHistogram)] { list.withLock { $0 } }
    }
}

/// What a workload does, made once and done by every subject in every repetition; it belongs to the run's thread.
///
/// Only where that is too much to keep is it made each time.
final class WorkSet {
    /// Up to how many rows the work of a workload is kept.
    private static let mostRows = 1_000_000

    private enum Part: Hashable {
        case prepare
        case step(Int)
        case restore
    }

    let workload: Workload
    private let keeps: Bool
    private var made: [Part: [Work]] = [:]

    init(_ workload: Workload, rows: Int) {
        self.workload = workload
        keeps = rows <= Self.mostRows
    }

    func prepare() throws -> [Work] { try works(.prepare, workload.prepare) }
    func step(_ index: Int) throws -> [Work] { try works(.step(index), workload.steps[index]) }
    func restore() throws -> [Work] { try works(.restore, workload.restore) }

    private func works(_ part: Part, _ make: Workload.WorkMaker) throws -> [Work] {
        if let works = made[part] { return works }
        let works = try make()
        if keeps { made[part] = works }
        return works
    }
}
