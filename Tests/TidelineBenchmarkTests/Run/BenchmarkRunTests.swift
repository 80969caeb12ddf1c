#if Commands
import Foundation
import Synchronization
import Testing
import TidelineStore
import TidelineTestSupport

@testable import TidelineBenchmark

@Suite("A run of the benchmark")
struct BenchmarkRunTests {
    let log = Log()

    private func subject(_ name: String, _ answering: @escaping @Sendable (Work) throws -> Answer) -> BenchmarkSubject {
        recordingSubject(name, log, answering: answering)
    }

    private func plain(_ names: String...) -> [BenchmarkSubject] { names.map { recordingSubject($0, log) } }

    @Test("Each round starts with another subject, and every subject performs all iterations")
    func rotation() throws {
        let report = try TestRun(plain("a", "b", "c"), [.test()]).report()
        #expect(log.lines(with: "find 2").map { $0.prefix(1) } == ["a", "b", "c", "b", "c", "a", "c", "a", "b"])
        #expect(report.results.map(\.subjects.count) == [3])
        #expect(report.results[0].subjects.allSatisfy { $0.samples.count == 3 && $0.latency?.count == 3 })
        #expect(!report.hasFailures)
    }

    @Test("Preparation, restoration and warm-ups are performed but not measured")
    func untimed() throws {
        let slow = subject("a") { work in
            // A slow preparation or restoration would show in the measured time.
            if case .find(_, let limit) = work, limit != 2 { usleep(200_000) }
            return Answer(count: 1)
        }
        let report = try TestRun([slow], [.test()], settings: .test(warmUp: 2)).report()
        let once = ["a open", "a find 1", "a find 2", "a find 3", "a close"]
        #expect(log.lines == Array(repeating: once, count: 5).flatMap(\.self))
        let result = report.results[0].subjects[0]
        #expect(result.samples.count == 3 && result.latency?.count == 3)
        #expect(result.samples.map(\.seconds).min().map { $0 < 0.2 } == true)
    }

    @Test("Steps run one after another, and the works of a step run concurrently")
    func steps() throws {
        // The two works wait for each other.
        let both = DispatchGroup()
        both.enter()
        both.enter()
        let meeting = subject("a") { work in
            if case .find(_, let limit) = work, limit > 10 {
                both.leave()
                try both.finish("the other work")
            }
            return Answer(count: 1, checksum: 5)
        }
        let steps: [Workload.WorkMaker] = [{ [.numbered(5)] }, { [.numbered(11), .numbered(12)] }, { [.numbered(6)] }]
        let report = try TestRun([meeting], [.test(steps: steps)], settings: .test(repetitions: 1)).report()
        #expect(log.lines[2] == "a find 5")
        #expect(Set(log.lines[3...4]) == ["a find 11", "a find 12"])
        #expect(log.lines[5] == "a find 6")
        #expect(report.results[0].subjects[0].latency?.count == 4)
    }

    @Test("A wrong answer has no figures; the other subjects have")
    func wrongAnswer() throws {
        let wrong = subject("wrong") { _ in Answer(count: 2) }
        var test = try TestRun([wrong] + plain("right"), [.test()])
        test.run.reference = { [log] _ in recordingSubject("reference", log) }
        let subjects = test.report().results[0].subjects
        let reason = "the answer: 2 rows with checksum 0, expected 1 row with checksum 0"
        #expect(subjects[0].failure == .init(kind: .wrongAnswer, reason: reason))
        #expect(subjects[0].samples.isEmpty && subjects[0].latency == nil)
        #expect(subjects[1].failure == nil && subjects[1].samples.count == 3)
        #expect(test.report().hasFailures)
    }

    @Test("A single wrong answer in a later iteration removes the figures")
    func wrongOnce() throws {
        let calls = Mutex(0)
        let wrong = subject("wrong") { work in
            guard case .find(_, 2) = work else { return Answer(count: 1) }
            return Answer(
                count: calls.withLock { calls in
                    calls += 1
                    return calls
                } == 3 ? 9 : 1)
        }
        let report = try TestRun([wrong] + plain("b", "c"), [.test()]).report()
        #expect(report.results[0].subjects[0].failure?.kind == .wrongAnswer)
        #expect(report.results[0].subjects[0].samples.isEmpty)
    }

    @Test("Without a reference the most frequent answer is correct; without one, no figures count")
    func disagreement() throws {
        let odd = subject("odd") { _ in Answer(count: 1, checksum: 7) }
        let most = try TestRun([odd] + plain("b", "c"), [.test()]).report().results[0].subjects
        #expect(most.map { $0.failure?.kind } == [.wrongAnswer, nil, nil])
        let tied = try TestRun([odd] + plain("b"), [.test()]).report().results[0].subjects
        #expect(tied.map { $0.failure?.kind } == [.wrongAnswer, .wrongAnswer])
        #expect(tied[0].failure?.reason.contains("the subjects disagree") == true)
    }

    @Test("After a failure the other subjects continue, and all subjects perform the next workload")
    func failure() throws {
        let failing = subject("failing") { work in
            if case .find(_, 2) = work { throw StoreError(.corrupt, "page 3 is damaged") }
            return Answer(count: 1)
        }
        let next = Workload.test("next", steps: [{ [.numbered(4)] }])
        let report = try TestRun([failing] + plain("b"), [.test(), next]).report()
        #expect(report.results[0].subjects[0].failure == .init(kind: .failed, reason: "page 3 is damaged [corrupt]"))
        #expect(report.results[0].subjects[1].samples.count == 3)
        #expect(report.results[1].subjects.allSatisfy { $0.failure == nil && $0.samples.count == 3 })
        #expect(log.lines(with: "failing find 2").count == 1)
        #expect(report.hasFailures)
        #expect(report.stopReason == nil)
    }

    @Test("Work that is not applicable is recorded and is no failure")
    func notApplicable() throws {
        let bare = subject("bare") { _ in throw WorkNotApplicable("bare engine: no sync") }
        let report = try TestRun([bare] + plain("b"), [.test()]).report()
        #expect(report.results[0].subjects[0].failure == .init(kind: .notApplicable, reason: "bare engine: no sync"))
        #expect(!report.hasFailures)
    }

    @Test("Only the subjects of its field perform a workload, and subjects without work are omitted")
    func fields() throws {
        let json = recordingSubject("json", log, field: .json)
        let report = try TestRun(plain("a") + [json], [.test(), .test("parse", field: .json)]).report()
        #expect(report.results.map { $0.subjects.map(\.subject) } == [["a"], ["json"]])
        var idle = try TestRun(plain("a") + [json], [.test()])
        idle.run.removeIdleSubjects()
        #expect(idle.report().subjects.map(\.name) == ["a"])
    }

    @Test("A loaded database is filled once for all workloads that need it, and its size is measured after the last")
    func loaded() throws {
        let subject = recordingSubject(
            "a", log, isPersistent: true, compact: { try Data().write(to: URL(fileURLWithPath: $0 + "/file")) })
        let start = Workload.Start.loaded(BenchmarkTable())
        let indexed = Workload.Start.loaded(BenchmarkTable(isIndexed: true))
        let workloads: [Workload] = [
            .test("one", start: start), .test("two"), .test("three", start: start), .test("four", start: indexed),
        ]
        let report = try TestRun([subject], workloads).report()
        #expect(log.lines(with: "upsert").count == 2)
        #expect(log.lines.prefix(4) == ["a open", "a upsert", "a close", "a open"])
        #expect(report.sizes.map(\.isIndexed) == [false, true])
        #expect(report.sizes.allSatisfy { $0.bytes == 4 && $0.compactedBytes == 0 && $0.rows == 100 })
        // The database with the index is created after the other is closed.
        let next = try #require(log.lines.firstIndex(of: "a open indexed"))
        let before = log.lines[..<next]
        #expect(before.count { $0 == "a open" } == before.count { $0 == "a close" })
    }

    @Test("After a failure a loaded database is filled again for the next workload")
    func refilled() throws {
        let failing = subject("a") { work in
            if case .find(_, 2) = work { throw StoreError(.io, "oh") }
            return Answer(count: 1)
        }
        let start = Workload.Start.loaded(BenchmarkTable())
        let next = Workload.test("next", start: start, steps: [{ [.numbered(4)] }])
        let report = try TestRun([failing], [.test(start: start), next]).report()
        #expect(log.lines(with: "upsert").count == 2)
        #expect(report.results[1].subjects[0].samples.count == 3)
    }

    @Test("With verification, all rows are compared after works that change them")
    func verification() throws {
        let wrong = subject("wrong") { work in
            if case .scan = work { return Answer(count: 99) }
            return Answer(count: 1)
        }
        let workloads: [Workload] = [.test(steps: [{ [.delete([])] }]), .test("reading")]
        let report = try TestRun([wrong] + plain("b", "c"), workloads, settings: .test(verifiesAll: true)).report()
        #expect(report.results[0].subjects[0].failure?.reason.hasPrefix("all rows after the work: 99 rows") == true)
        #expect(report.results[0].subjects[1].failure == nil && report.results[1].subjects[0].failure == nil)
        #expect(log.lines(with: "b scan").count == 2)
    }

    @Test("Results are ordered by workload and then by number of rows")
    func order() throws {
        let settings = BenchmarkSettings.test(rows: [300, 100, 200], repetitions: 1)
        let results = try TestRun(plain("a"), [.test("x"), .test("b")], settings: settings).report().results
        #expect(results.map { "\($0.id) \($0.rows)" } == ["x 100", "x 200", "x 300", "b 100", "b 200", "b 300"])
    }

    @Test("The completed share grows from 0 to 1")
    func share() throws {
        let shares = Mutex<[Double]>([])
        _ = try TestRun(plain("a", "b"), [.test("x"), .test("y")]).report(events: { event in
            shares.withLock { $0.append(event.share) }
        })
        let all = shares.withLock(\.self)
        #expect(all == all.sorted() && all.first == 0 && all.last == 1)
    }
}
#endif
