import ArgumentParser
import Testing
import TidelineBenchmark

@testable import TidelineBenchmarkCommand

@Suite("What the benchmark's command is asked for")
struct BenchOptionTests {
    @Test("Numbers of rows have k and m, and each counts once")
    func rows() throws {
        try #expect(RowCounts(argument: "100000,1m,20K,1000k").numbers == [100_000, 1_000_000, 20_000])
        for text in ["", ",", "x", "k", "1.5m", "-1", "99", "100000001", "101m", "1g"] {
            #expect(throws: ValidationError.self, "\(text)") { try RowCounts(argument: text) }
        }
    }

    @Test(
        "A star stands for any letters, and a group for all of its workloads; --quick for those of a first impression")
    func workloads() throws {
        let all = Workload.all(BenchmarkSettings(), rows: 100_000)
        func chosen(_ patterns: String..., quick: Bool = false) throws -> [String] {
            try WorkloadSelection(patterns: patterns, isQuick: quick, among: all).chosen(all).map(\.id)
        }
        #expect(try chosen() == all.map(\.id))
        #expect(try chosen("*") == all.map(\.id))
        #expect(try chosen("reading") == all.filter { $0.group == .reading }.map(\.id))
        #expect(try chosen("*-view", "SCAN-VIEW") == all.map(\.id).filter { $0.hasSuffix("-view") })
        #expect(try chosen("s*n-*iew") == ["scan-view"])
        #expect(try chosen(quick: true) == all.filter(\.isQuick).map(\.id))
    }

    @Test("The time left is told once something is known")
    func timeLeft() {
        #expect(BenchProgress.timeLeft(after: .seconds(10), share: 0.01) == "")
        #expect(BenchProgress.timeLeft(after: .seconds(10), share: 0.5) == " · about 10 s left")
        #expect(BenchProgress.timeLeft(after: .seconds(600), share: 0.5) == " · about 10 min left")
        #expect(BenchProgress.timeLeft(after: .seconds(7200), share: 0.5) == " · about 2 h left")
    }
}
