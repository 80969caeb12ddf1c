#if Commands
public import ArgumentParser
internal import Foundation
package import TidelineSupport

/// The options of ``ConformanceCommand``.
public struct ConformanceOptions: ParsableArguments, Sendable {
    /// The one-line description of the command.
    public static let abstract = "Check that stores keep the promises of the local store contract."
    /// The detailed description of the command.
    public static let discussion = """
        Each check verifies one promise on a new store in a temporary directory. Failures are reported with the \
        expected and actual results, the seed, and a Swift script that reproduces them.

        Exit status: 0 on success, 1 after failures, 2 if the command line is invalid or a report cannot \
        be written, 130 if interrupted.
        """

    @Option(
        name: .customLong("store"),
        help: ArgumentHelp(
            "A store to check, or several separated by commas; by default all of them.",
            discussion: "May be repeated. If a store has settings, they follow its name: NAME,SETTING=VALUE.",
            valueName: "name"))
    package var stores: [String] = []

    @Option(help: "The checks to run: \(Profile.allCases.map(\.rawValue).joined(separator: ", ")).")
    package var profile: Profile = .full

    @Option(
        help: ArgumentHelp(
            "Run only these checks: an id (UPS-004), a prefix of ids (UPS), a group (upsert), or words of the promise.",
            discussion: "May be repeated.", valueName: "pattern"))
    package var filter: [String] = []

    @Option(help: "The seed of random checks; the same seed generates the same operations.")
    package var seed: UInt64 = 1

    @Option(help: "The number of repetitions of random checks; twice as many rounds take about twice as long.")
    package var rounds: Int = 1

    @Option(help: "The number of rows that scale checks store; by default 100000; for a server 1000, at most 50000.")
    package var rows: Int?

    @Option(
        help: ArgumentHelp(
            "The time in seconds after which a check counts as hung; ten times as long for the profile long.",
            valueName: "seconds"))
    package var timeLimit: Double = 300

    @Option(help: ArgumentHelp("The number of stores checked at the same time.", valueName: "number"))
    package var jobs: Int = 1

    @Option(
        help: ArgumentHelp(
            "A list of known failures: an id or STORE/ID and the reason on each line.",
            discussion: "A reason that begins with (may fail) is for a check that may also pass.", valueName: "file"))
    package var known: String?

    @Option(
        help: ArgumentHelp(
            "A directory that contains, for each store, a directory of that name with stores from earlier releases.",
            valueName: "folder"))
    package var fixtures: String?

    @Flag(
        help: ArgumentHelp(
            "Count checks that are skipped, tolerated, not run, or known to fail as failures.",
            discussion: "Not those of the opposite of what a store declares, and of another dialect."))
    package var strict = false

    @OptionGroup package var reports: ReportOptions

    @Option(help: ArgumentHelp("Write the report as JUnit XML.", valueName: "path"))
    var junit: String?

    @Option(help: ArgumentHelp("Write a badge in the format of shields.io endpoints.", valueName: "path"))
    var badge: String?

    @Option(help: ArgumentHelp("Explain a check and the reason for its promise.", valueName: "id"))
    package var explain: String?

    @Flag(help: "Run the checks in this process, for debugging; a crash of a store ends the run.")
    package var inProcess = false

    @Option(help: .hidden) var worker: String?
    @Flag(help: .hidden) var child = false
    @Argument(parsing: .postTerminator, help: .hidden) var rest: [String] = []

    /// Creates options for the parser.
    public init() {}

    /// Validates the options.
    public func validate() throws {
        try confirm(rounds, in: 1...1_000_000, "--rounds")
        if let rows { try confirm(rows, in: 1...100_000_000, "--rows") }
        try confirm(jobs, in: 1...64, "--jobs")
        guard timeLimit > 0, timeLimit <= 86_400 else {
            throw ValidationError("--time-limit must be a number of seconds greater than 0 and at most 86400.")
        }
        var isFolder: ObjCBool = false
        if let fixtures,
            !FileManager.default.fileExists(atPath: fixtures, isDirectory: &isFolder) || !isFolder.boolValue
        {
            throw ValidationError("--fixtures: the directory \(fixtures) does not exist.")
        }
        try reports.confirmIsWritten(outputs, explains: explain != nil)
    }

    /// The settings of the suite.
    package var settings: ConformanceSettings {
        ConformanceSettings(
            seed: seed, rounds: rounds, rows: rows ?? 100_000, timeLimit: .seconds(timeLimit), profile: profile)
    }

    /// The options with which a check is repeated, besides those of ``settings`` that a report contains.
    package var repeating: [String] {
        var words = settings.timeLimit == ConformanceSettings().timeLimit ? [] : ["--time-limit", "\(timeLimit)"]
        if let fixtures { words += ["--fixtures", fixtures] }
        return words
    }

    /// The available report formats.
    package var outputs: [ReportOutputs<ConformanceReport>.Kind] {
        [
            .init("--json", reports.json, text: JSONReport().text), .init("--junit", junit, text: JUnitReport().text),
            .init("--markdown", reports.markdown, text: MarkdownReport().text),
            .init("--html", reports.html, text: HTMLReport().text),
            .init("--badge", badge, text: BadgeReport().text),
        ]
    }

    /// Rejects unexpected arguments. Arguments after `--` are reserved for the suite's own processes.
    func confirmNothingIsLeft() throws {
        if let word = rest.first, !child { throw ValidationError("Unexpected argument '\(word)'") }
    }
}

extension Profile: ExpressibleByArgument {}
#endif
