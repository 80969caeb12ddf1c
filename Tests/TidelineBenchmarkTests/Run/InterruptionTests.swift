#if Commands
import Foundation
import Synchronization
import Testing
import TidelineStore

@testable import TidelineBenchmark

@Suite("An incomplete run")
struct InterruptionTests {
    let log = Log()

    private func subject(_ answering: @escaping @Sendable (Work) throws -> Answer) -> BenchmarkSubject {
        recordingSubject("a", log, answering: answering)
    }

    private var workloads: [Workload] {
        [.test("one"), .test("two", start: .loaded(BenchmarkTable())), .test("three")]
    }

    @Test("An interrupted run keeps complete rounds only and removes its files", arguments: 0..<26)
    func interrupted(at point: Int) throws {
        let subjects = ["a", "b"].map { recordingSubject($0, log, isPersistent: true) }
        let test = try TestRun(subjects, workloads)
        let asked = Mutex(0)
        let report = test.report(isCancelled: {
            asked.withLock { asked in
                asked += 1
                return asked > point
            }
        })
        #expect(report.isInterrupted == (point < 20))
        for result in report.results { #expect(Set(result.subjects.map(\.samples.count)).count == 1) }
        #expect(log.lines(with: "open").count == log.lines(with: "close").count)
        #expect(!FileManager.default.fileExists(atPath: test.root.path))
    }

    @Test("If the directory ends on another thread during the run, no files are created")
    func endedFromOutside() throws {
        let subjects = ["a", "b"].map { recordingSubject($0, log, isPersistent: true) }
        let test = try TestRun(subjects, workloads)
        let folder = test.run.folder
        let report = test.report(events: { event in
            if case .iteration("two", _, _) = event.kind { folder.end() }
        })
        #expect(!FileManager.default.fileExists(atPath: test.root.path))
        #expect(report.results.last?.subjects[0].failure?.kind == .failed)
    }

    @Test("A full disk stops the run, and earlier results remain")
    func full() throws {
        let filling = subject { work in
            if case .find(_, 4) = work { throw StoreError(.full, "no room for page 7") }
            return Answer(count: 1)
        }
        let next = Workload.test("next", steps: [{ [.numbered(4)] }])
        var test = try TestRun([filling], [.test(), next, .test("last")])
        test.run.diskSpace = DiskSpace { _ in 4096 }
        let report = test.report()
        #expect(report.stopReason?.hasPrefix("the disk is full: a could not write in") == true)
        #expect(report.stopReason?.contains("no room for page 7") == true)
        #expect(report.results.map(\.id) == ["test"])
        #expect(report.hasFailures)
        #expect(!FileManager.default.fileExists(atPath: test.root.path))
    }

    @Test("A store that reaches its own limit fails, but the run continues")
    func limited() throws {
        let filling = subject { _ in throw StoreError(.full, "the map is full") }
        var test = try TestRun([filling], [.test(), .test("last")])
        test.run.diskSpace = DiskSpace { _ in 1 << 40 }
        let report = test.report()
        #expect(report.stopReason == nil)
        #expect(report.results.map { $0.subjects[0].failure?.kind } == [.failed, .failed])
    }

    @Test("The disk space is checked before the run")
    func room() throws {
        let start = Workload.Start.loaded(BenchmarkTable())
        var test = try TestRun([recordingSubject("a", log, isPersistent: true)], [.test(start: start)])
        test.run.settings.rows = [1_000_000]
        test.run.diskSpace = DiskSpace { _ in 1 << 40 }
        try test.run.confirmRoom()
        test.run.diskSpace = DiskSpace { _ in 64 << 20 }
        let error = #expect(throws: BenchmarkError.self) { try test.run.confirmRoom() }
        #expect(error?.description.contains("64 MB are free") == true)
        test.run.subjects = [recordingSubject("memory", log)]
        try test.run.confirmRoom()
        test.run.folder.end()
    }
}
#endif
