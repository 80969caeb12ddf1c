#if Commands
import Testing

#if os(Linux)
/// Valgrind, and so the script, is for Linux.
@Suite("The script that counts instructions")
struct InstructionsScriptTests {
    private static let counts = [
        "lmdb scan-view": 30_000, "lmdb upsert": 50_000, "lmdb-c scan-view": 20_000, "lmdb-c upsert": 40_000,
    ]
    private let script: InstructionsScript

    init() throws { script = try InstructionsScript(Self.counts) }

    @Test("The table shows the counts of one unit, of the baseline and of the record")
    func printsTable() throws {
        let first = try script.run()
        #expect(first.status == 0, "\(first.err)")
        #expect(first.out.contains(/lmdb +scan-view +3000 +2000 +1\.50 *\n/))
        #expect(!first.out.contains("lmdb-c"))
        #expect(script.record == nil)
        #expect(try script.run("--record").status == 0)
        try script.count(Self.counts.merging(["lmdb scan-view": 27_000]) { $1 })
        #expect(try script.run().out.contains(/lmdb +scan-view +2700 +2000 +1\.35 +3000 +-10\.0 %/))
    }

    @Test("A check fails if a store's count grew by more than 3 %, and names it with the growth")
    func failsOnGrowth() throws {
        _ = try script.run("--record")
        try script.count(Self.counts.merging(["lmdb upsert": 51_400]) { $1 })
        #expect(try script.run("--check").status == 0)
        try script.count(Self.counts.merging(["lmdb upsert": 51_600]) { $1 })
        let outcome = try script.run("--check")
        #expect(outcome.status == 1)
        #expect(outcome.err.contains("lmdb upsert: 5160 instead of 5000 instructions, 3.2 % more"))
        #expect(outcome.err.contains("Benchmarks/instructions --record"))
        #expect(!outcome.err.contains("scan-view"))
    }

    @Test("Growth of a baseline, or with another compiler, is no failure")
    func passesWhatIsNotOurs() throws {
        _ = try script.run("--record")
        try script.count(Self.counts.merging(["lmdb-c upsert": 90_000]) { $1 })
        #expect(try script.run("--check").status == 0)
        try script.count(Self.counts.merging(["lmdb upsert": 90_000]) { $1 })
        try script.setCompiler("6.4")
        let outcome = try script.run("--check")
        #expect(outcome.status == 0)
        #expect(outcome.out.contains(/recorded: compiler\s+Swift version 6\.3/))
        #expect(outcome.out.contains("lmdb upsert: 9000 instead of 5000"))
    }

    @Test("A filter selects counts with their baselines, and records only these")
    func filters() throws {
        _ = try script.run("--record")
        try script.count(Self.counts.mapValues { $0 * 2 })
        let outcome = try script.run("--record", "--filter", "lmdb scan")
        #expect(outcome.out.contains(/lmdb +scan-view +6000 +4000/))
        #expect(!outcome.out.contains("upsert"))
        let record = try #require(script.record)
        #expect(record.contains("lmdb\tscan-view\t6000\n"))
        #expect(record.contains("lmdb-c\tscan-view\t4000\n"))
        #expect(record.contains("lmdb\tupsert\t5000\n"))
    }

    @Test("Errors are reported before the build")
    func saysWhatIsWrong() throws {
        #expect(try script.run("--chekc").err.contains("unknown argument --chekc"))
        #expect(try script.run("--rows", "many").status == 64)
        #expect(try script.run("--filter").err.contains("--filter needs a value"))
        #expect(try script.run("--check").err.contains("there is no record"))
        let unknown = try script.run("--filter", "sacn")
        #expect(unknown.status == 64)
        #expect(unknown.err.contains("lmdb scan-view"))
        try script.remove("valgrind")
        let outcome = try script.run()
        #expect(outcome.status == 1)
        #expect(outcome.err.contains("sudo apt-get install valgrind"))
        #expect(script.record == nil)
    }

    @Test("A run without a count fails with a reason")
    func failsWithoutCount() throws {
        try script.count(Self.counts.merging(["lmdb upsert": 0]) { $1 })
        let outcome = try script.run("--record")
        #expect(outcome.status == 1)
        #expect(outcome.err.contains("lmdb upsert: nothing was counted"))
        #expect(script.record == nil)
    }
}
#endif
#endif
