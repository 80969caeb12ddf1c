#if Commands
import Foundation
import Testing
import TidelineTestSupport

@testable import TidelineBenchmark

@Suite("Measuring")
struct MeasuringTests {
    @Test("A summary has the percentiles of all latencies, and a curve that ends at the maximum")
    func latencies() throws {
        let sink = LatencySink()
        for number in 1...10_000 { sink.note(nanoseconds: UInt64(number) * 1000) }
        let summary = try #require(LatencySummary(sink.histogram))
        #expect(summary.count == 10_000)
        // The histogram has three significant digits.
        for (found, expected) in [
            (summary.p50, 5_000_000.0), (summary.p90, 9_000_000), (summary.p99, 9_900_000), (summary.p999, 9_990_000),
        ] {
            #expect(abs(Double(found) - expected) <= expected / 1000)
        }
        #expect(summary.max == 10_000_000)
        let shares = summary.curve.map(\.share)
        #expect(shares == shares.sorted())
        #expect(shares.first == 0)
        #expect(shares.last == 1)
        #expect(summary.curve.count > 30 && summary.curve.count <= 45)
        #expect(summary.curve.last?.nanoseconds == 10_000_000)
        #expect(LatencySummary(LatencySink().histogram) == nil)
    }

    @Test("Latencies outside the histogram's range are clamped")
    func limits() throws {
        let sink = LatencySink()
        sink.note(nanoseconds: 0)
        sink.note(nanoseconds: .max)
        #expect(LatencySummary(sink.histogram)?.count == 2)
    }

    @Test("The size of files excludes holes")
    func sizes() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: "\(folder.path)/inner", withIntermediateDirectories: false)
        try Data(count: 10_000).write(to: URL(fileURLWithPath: "\(folder.path)/a"))
        try Data(count: 5_000).write(to: URL(fileURLWithPath: "\(folder.path)/inner/b"))
        #expect(FileSystem.size(ofFolder: folder.path) == 15_000)
        #expect(truncate("\(folder.path)/a", 1 << 30) == 0)
        #expect(FileSystem.size(ofFolder: folder.path) < 1 << 20)
    }

    #if os(Linux)
    @Test("A stopwatch measures written bytes and peak memory")
    func counters() throws {
        // Both are counters of the whole process, so use a separate process.
        let probe = try ProbeProcess("CommandProbe")
        let output = try probe.run(probe.path("file"), environment: ["BENCH": "stopwatch"])
        let counts = output.out.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(counts.count == 2, "\(output)")
        #expect(counts[0] >= 20 << 20 && counts[0] < 21 << 20)
        #expect(counts[1] >= 19 << 20 && counts[1] < 30 << 20)
    }

    @Test("The file system is that of the nearest mount, and of the last at one mount point")
    func fileSystems() {
        let mounts = """
            22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
            23 22 0:21 / /a\\040b rw - tmpfs tmpfs rw
            24 22 0:22 / /data rw shared:2 master:1 - xfs /dev/b rw
            25 22 0:23 / /data rw - btrfs /dev/c rw
            """
        #expect(FileSystem.name(of: "/data/x", mounts: mounts) == "btrfs")
        #expect(FileSystem.name(of: "/a b/x", mounts: mounts) == "tmpfs")
        #expect(FileSystem.name(of: "/database", mounts: mounts) == "ext4")
        #expect(FileSystem.name(of: "/", mounts: "nonsense\n\n - \n1 2 3 4 / -") == nil)
        #expect(FileSystem.freeBytes(at: "/").map { $0 > 0 } == true)
    }
    #endif

    @Test("The busy time is parsed from the cpu line; a truncated line is ignored")
    func busySeconds() {
        let line = "cpu  100 20 30 4000 50 6 7 8 90 9"
        #expect(BackgroundLoad.busySeconds(of: line.dropFirst(4), ticksPerSecond: 100) == 1.71)
        #expect(BackgroundLoad.busySeconds(of: "100 20 30", ticksPerSecond: 100) == nil)
        #expect(BackgroundLoad.busySeconds(of: "", ticksPerSecond: 100) == nil)
    }
}
#endif
