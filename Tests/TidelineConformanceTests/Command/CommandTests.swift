#if Commands
import Foundation
import Testing
import TidelineConformance
import TidelineTestSupport

@Suite("The conformance command")
struct CommandTests {
    private let probe: ProbeProcess

    init() throws { probe = try ProbeProcess("CommandProbe") }

    /// Writes a list of known failures, and returns the arguments that name it.
    private func knownFailures(_ list: String) throws -> [String] {
        try list.write(toFile: probe.path("known"), atomically: true, encoding: .utf8)
        return ["--known", probe.path("known")]
    }

    @Test("A run without failures ends with 0 and writes every requested report")
    func reports() throws {
        let output = try probe.run(
            "--store", "none", "--filter", "UPS-00", "--json", probe.path("report.json"),
            "--junit", probe.path("r.xml"), "--markdown", probe.path("r.md"), "--html", probe.path("r.html"),
            "--badge", probe.path("r.badge"))
        #expect(output.status == 0, "\(output)")
        #expect(output.err.isEmpty)
        #expect(output.out.contains("No failures in 9 checks"))
        #expect(!output.out.contains("\u{1B}"))
        let report = try ConformanceReport(json: probe.data())
        #expect(report.isComplete)
        #expect(report.stores.map(\.name) == ["none"])
        #expect(report.stores[0].totals.passed == 9)
        for (name, start) in [("r.xml", "<?xml"), ("r.md", "# "), ("r.html", "<!DOCTYPE"), ("r.badge", "{")] {
            #expect(try String(contentsOfFile: probe.path(name), encoding: .utf8).hasPrefix(start), "\(name)")
        }
        #expect(try probe.leftovers() == [])
    }

    @Test("If a report goes to standard output, all other output goes to standard error")
    func standardOutput() throws {
        let output = try probe.run("--store", "none", "--filter", "UPS-001", "--json", "-")
        #expect(try ConformanceReport(json: Data(output.out.utf8)).stores[0].totals.passed == 1)
        #expect(output.err.contains("No failures in 1 check."))
    }

    @Test("Failures end with 1 and are printed with the options that reproduce them")
    func failures() throws {
        let output = try probe.run(
            "--store", "miscounts,none", "--filter", "GET-011", "--seed", "7", "--time-limit", "250")
        #expect(output.status == 1)
        #expect(output.out.contains("FAILED  miscounts  GET-011"))
        let command = "repeat: CommandProbe --store miscounts --filter GET-011 --seed 7 --time-limit 250.0"
        #expect(output.out.contains(command))
        #expect(output.out.contains("1 failure in 1 check over 2 stores."))
        #expect(try probe.run("--store", "miscounts", "--filter", "GET-011", "--in-process", "-q").status == 1)
    }

    @Test(
        "A known failure does not count as a failure; one that passes does, unless it is marked with (may fail)",
        arguments: [("counts too many; issue 3", false), ("(may fail) counts too many at times", true)])
    func known(reason: String, mayPass: Bool) throws {
        let list = try ["--filter", "GET-011"] + knownFailures("GET-011 \(reason)")
        for place in [[], ["--in-process"]] {
            let failing = try probe.run(["--store", "miscounts"] + list + place)
            #expect(failing.status == 0)
            #expect(failing.out.contains("known failure  miscounts  GET-011  \(reason)"))
            let passing = try probe.run(["--store", "none"] + list + place)
            #expect(passing.status == (mayPass ? 0 : 1), "\(passing)")
            #expect(passing.out.contains("UNEXPECTED PASS") == !mayPass)
            #expect(mayPass || passing.out.contains("UNEXPECTED PASS  none  GET-011"))
        }
    }

    @Test("In a strict run, a check that is skipped or known to fail is a failure")
    func strict() throws {
        // The store is in memory.
        let skipped = ["--store", "none", "--filter", "LIF-011"]
        #expect(try probe.run(skipped).status == 0)
        let output = try probe.run(skipped + ["--strict"])
        #expect(output.status == 1)
        #expect(output.out.contains("No failures in 1 check, but 1 did not pass, as --strict requires."))
        #expect(try probe.run("--store", "none", "--filter", "GET-011", "--strict").status == 0)
        // NaN is stored in the first check and refused in the second.
        let opposites = try probe.run("--store", "none", "--filter", "VAL-017", "--filter", "VAL-018", "--strict")
        #expect(opposites.status == 0, "\(opposites)")
        let failing = ["--store", "miscounts", "--filter", "GET-011", "--strict"]
        #expect(try probe.run(failing + knownFailures("GET-011 issue 3")).status == 1)
    }

    @Test(
        "Invalid arguments end with 2 and an explanation, before anything runs",
        arguments: [
            (["--store", "nane"], "Did you mean \"none\"?"), (["--filter", "UPX"], "Did you mean \"UPS\"?"),
            (["--filter", ""], "no check matches"),
            (["--filter", "DUR", "--profile", "standard"], "not in the profile"),
            (["--profile", "most"], "--profile"), (["--rounds", "0"], "--rounds"), (["--seed", "-1"], "--seed"),
            (["--time-limit", "0"], "--time-limit"), (["--json", "/nowhere/at/all"], "cannot be written"),
            (["--html", "/"], "cannot be written"), (["--json", "-", "--junit", "-"], "go to the same place"),
            (["--list", "--json", "-"], "remove it or --list"), (["--list", "--badge", "-"], "remove it or --list"),
            (["--explain", "UPS-001", "--markdown", "-"], "remove it or --explain"),
            (["--known", "/nowhere"], "cannot be read"), (["--explain", "UPS-1"], "Did you mean \"UPS-001\"?"),
            (["--store", "none,size=1"], "has no settings"), (["--store", "none,none"], "listed more than once"),
            (["more"], "more"), (["--", "more"], "more"), (["--nonsense"], "--nonsense"),
        ])
    func usage(arguments: [String], message: String) throws {
        let output = try probe.run(arguments)
        #expect(output.status == 2)
        #expect(output.err.contains(message), "\(output.err)")
        #expect(output.out.isEmpty)
    }

    @Test("A list of known failures is refused with the number of the invalid line")
    func knownLine() throws {
        let output = try probe.run(knownFailures("# all\nUPS-001\n"))
        #expect(output.status == 2)
        #expect(output.err.contains("line 2: UPS-001 has no reason"))
        #expect(try probe.run(knownFailures("UPS-001 (may fail)")).err.contains("line 1: UPS-001 has no reason"))
    }

    @Test("The list contains every check, as text and as Markdown; an explanation describes one check completely")
    func listing() throws {
        let list = try probe.run("--list")
        #expect(list.status == 0)
        for check in Profile.full.checks { #expect(list.out.contains("  \(check.id)  \(check.promise)\n")) }
        let long = try probe.run("--list", "--profile", "long", "--filter", "LNG")
        for check in Check.all where check.tier == .long { #expect(long.out.contains("  \(check.id)  ")) }
        let markdown = try probe.run("--list", "--filter", "upsert", "--markdown", "-")
        #expect(markdown.out.hasPrefix("## Upsert\n"))
        #expect(!markdown.out.contains("GET-"))
        let check = try #require(Check.all.first { !$0.explanation.isEmpty && !$0.needs.isEmpty })
        let explained = try probe.run("--explain", check.id.lowercased())
        for text in [check.id, check.promise, check.explanation, check.group.title, check.needs[0].title] {
            #expect(explained.out.contains(text))
        }
    }

    @Test("A store without a name has the name that it declares")
    func nameless() throws {
        for place in [[], ["--in-process"]] {
            let output = try probe.run(["--store", "memory", "--filter", "UPS-001"] + place)
            #expect(output.status == 0, "\(output)")
            #expect(output.out.contains("1 check of memory"))
        }
    }
}
#endif
