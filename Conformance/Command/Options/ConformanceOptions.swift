public import ArgumentParser
internal import Foundation
internal import TidelineCommandSupport
public import TidelineConformance

/// The options of ``ConformanceCommand``.
public struct ConformanceOptions: ParsableArguments, Sendable {
    /// What the command does, in a line.
    public static let abstract = "Check that stores keep what every store promises."
    /// More about it.
    public static let discussion = """
        Each check is about one promise, and runs on a fresh store in a temporary folder. Failures come with what was \
        expected and found, the seed, and Swift that repeats them.

        Exit status: 0 when all is well, 1 after failures, 2 when the command line is not understood or a report cannot \
        be written, 130 when interrupted.
        """

    @Option(
        name: .customLong("store"),
        help: ArgumentHelp(
            "A store to check, or several with commas; all of them by default.",
            discussion: "May be repeated. Where a store has settings, they follow it: NAME,SETTING=VALUE.",
            valueName: "name"))
    var stores: [String] = []

    @Option(help: "How much a store is held to: \(Profile.allCases.map(\.rawValue).joined(separator: ", ")).")
    var profile: Profile = .full

    @Option(
        help: ArgumentHelp(
            "Only these checks: an id (UPS-004), the beginning of ids (UPS), a group (upsert), or words of the promise.",
            discussion: "May be repeated.", valueName: "pattern"))
    var filter: [String] = []

    @Option(help: "What random checks begin with; the same seed makes the same operations.")
    var seed: UInt64 = 1

    @Option(help: "How often what is random is tried; twice as many rounds take about twice as long.")
    var rounds: Int = 1

    @Option(help: "How many rows the checks of scale store.")
    var rows: Int = 100_000

    @Option(help: ArgumentHelp("Seconds until a check counts as hung.", valueName: "seconds"))
    var timeLimit: Double = 300

    @Option(help: ArgumentHelp("How many stores are checked at a time.", valueName: "number"))
    var jobs: Int = 1

    @Option(
        help: ArgumentHelp(
            "A list of known failures: on each line an id, or STORE/ID, and the reason.", valueName: "file"))
    var known: String?

    @Option(
        help: ArgumentHelp(
            "A folder that has, for each store, a folder of that name with stores that earlier releases made.",
            valueName: "folder"))
    var fixtures: String?

    @Option(help: ArgumentHelp("Write the report as JSON; - is standard output.", valueName: "path"))
    var json: String?

    @Option(help: ArgumentHelp("Write the report as JUnit's XML.", valueName: "path"))
    var junit: String?

    @Option(help: ArgumentHelp("Write the report as Markdown; with --list, the list of checks.", valueName: "path"))
    var markdown: String?

    @Option(help: ArgumentHelp("Write the report as one page of HTML.", valueName: "path"))
    var html: String?

    @Option(help: ArgumentHelp("Write a badge, as shields.io takes it from an endpoint.", valueName: "path"))
    var badge: String?

    @Flag(help: "List the checks: id, kind, promise, and what they need.")
    var list = false

    @Option(help: ArgumentHelp("Say what a check is about and why it is there.", valueName: "id"))
    var explain: String?

    @Flag(name: .shortAndLong, help: "Show failures and the summary only.")
    var quiet = false

    @Flag(help: "Run the checks in this process, for a debugger; a store that ends it ends the run.")
    var inProcess = false

    @Option(help: .hidden) var worker: String?
    @Flag(help: .hidden) var child = false
    @Argument(parsing: .postTerminator, help: .hidden) var rest: [String] = []

    /// Options, for the parser.
    public init() {}

    /// Refuses numbers that mean nothing.
    public func validate() throws {
        try confirm(rounds, in: 1...1_000_000, "--rounds")
        try confirm(rows, in: 1...100_000_000, "--rows")
        try confirm(jobs, in: 1...64, "--jobs")
        guard timeLimit > 0, timeLimit <= 86_400 else {
            throw ValidationError("--time-limit is a number of seconds, more than 0 and up to 86400.")
        }
        var isFolder: ObjCBool = false
        if let fixtures,
            !FileManager.default.fileExists(atPath: fixtures, isDirectory: &isFolder) || !isFolder.boolValue
        {
            throw ValidationError("--fixtures: there is no folder \(fixtures).")
        }
    }

    /// How the suite runs.
    var settings: ConformanceSettings {
        ConformanceSettings(
            seed: seed, rounds: rounds, rows: rows, timeLimit: .seconds(timeLimit), profile: profile)
    }

    /// The reports that can be asked for.
    var reports: [ReportOutputs<ConformanceReport>.Kind] {
        [
            .init("--json", json, text: JSONReport().text), .init("--junit", junit, text: JUnitReport().text),
            .init("--markdown", markdown, text: MarkdownReport().text), .init("--html", html, text: HTMLReport().text),
            .init("--badge", badge, text: BadgeReport().text),
        ]
    }

    /// Words after `--` are the suite's own, for its processes.
    func confirmNothingIsLeft() throws {
        if let word = rest.first, !child { throw ValidationError("Unexpected argument '\(word)'") }
    }
}

extension Profile: ExpressibleByArgument {}
