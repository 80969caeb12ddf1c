internal import Foundation
internal import Synchronization

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
