public import ArgumentParser
internal import Foundation
internal import TidelineBenchmark
internal import TidelineCommandSupport
internal import TidelineStore
internal import TidelineSupport

/// The options of ``BenchCommand``.
public struct BenchOptions: ParsableArguments, Sendable {
    /// What the command does, in a line.
    public static let abstract = "Measure how fast stores are, beside the bare engines."
    /// More about it.
    public static let discussion = """
        Every workload is done by each store in turn, again and again, on a database of its own; each answer is compared \
        with the right one. Only a release build on an idle machine gives figures that mean something.

        Exit status: 0 when all is well, 1 after wrong answers, failures, or a regression that --fail-on-regression is \
        to find, 2 when the command line is not understood or a report cannot be written, 130 when interrupted.
        """

    @Option(
        name: .customLong("store"),
        help: ArgumentHelp(
            "A store to measure, or several with commas; all of them by default.",
            discussion: """
                May be repeated. Settings follow the store: NAME,SETTING=VALUE; NAME:FOLDER has its databases in another \
                folder than the others.
                """,
            valueName: "name"))
    var stores: [String] = []

    @Flag(inversion: .prefixedNo, help: "Whether the bare engines are measured, too.")
    var baseline = true

    @Option(
        help: ArgumentHelp(
            "Only these workloads: an id, * stands for any letters; or a group (reading). See --list.",
            discussion: "May be repeated.", valueName: "pattern"))
    var filter: [String] = []

    @Flag(help: "List the workloads: id, and what is done.")
    var list = false

    @Option(
        help: ArgumentHelp(
            "How many rows the table has: one number or several with commas, such as 100000,1m.", valueName: "numbers"),
        transform: { try RowCounts(argument: $0) })
    var rows: RowCounts?

    @Option(help: ArgumentHelp("How many columns the table has beside the id.", valueName: "number"))
    var columns: Int = BenchmarkTable.leastColumns

    @Option(help: ArgumentHelp("How many bytes a text has.", valueName: "bytes"))
    var valueSize: Int = 32

    @Option(help: "In which order ids come: \(KeyOrder.allCases.map(\.rawValue).joined(separator: ", ")).")
    var keyOrder: KeyOrder = .random

    @Option(help: ArgumentHelp("How many rows a transaction of a bulk workload writes.", valueName: "rows"))
    var batch: Int = 1000

    @Option(help: ArgumentHelp("The most threads that read at once.", valueName: "number"))
    var readers: Int = 8

    @Option(help: ArgumentHelp("What a commit survives, for all stores that have the setting.", valueName: "level"))
    var durability: String?

    @Option(help: "What everything random begins with; the same seed makes the same rows and the same work.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "How often each workload is measured; by default 5, or 3 with --quick, or 9 with --compare.",
            valueName: "number"))
    var repetitions: Int?

    @Option(help: ArgumentHelp("How often it is done before that, untimed.", valueName: "number"))
    var warmUp: Int = 1

    @Flag(help: "Read and compare all rows after each workload that changes some.")
    var verify = false

    @Flag(help: "A first impression in under a minute: fewer workloads, fewer repetitions, 20000 rows.")
    var quick = false

    @Flag(help: "Leave the databases in the folder.")
    var keep = false

    @Option(
        help: ArgumentHelp(
            "Where the databases are: an empty folder, or one that does not exist; by default among temporary files.",
            valueName: "folder"))
    var directory: String?

    @Flag(help: "Delete the databases that an earlier run has left in the folder; files of others are never deleted.")
    var force = false

    @Option(help: ArgumentHelp("Write the report as JSON; - is standard output.", valueName: "path"))
    var json: String?

    @Option(help: ArgumentHelp("Write the report as CSV, a line for each repetition.", valueName: "path"))
    var csv: String?

    @Option(help: ArgumentHelp("Write the report as Markdown; with --list, the list of workloads.", valueName: "path"))
    var markdown: String?

    @Option(help: ArgumentHelp("Write the report as one page of HTML, with charts.", valueName: "path"))
    var html: String?

    @Option(help: ArgumentHelp("Compare with an earlier run, as its --json wrote it.", valueName: "path"))
    var compare: String?

    @Flag(help: "End with status 1 when something is slower than in --compare, beyond chance.")
    var failOnRegression = false

    @Flag(name: .shortAndLong, help: "Show no progress, and the tables only.")
    var quiet = false

    /// Options, for the parser.
    public init() {}

    /// Refuses numbers that mean nothing.
    public func validate() throws {
        try confirm(columns, in: BenchmarkTable.leastColumns...1000, "--columns")
        try confirm(valueSize, in: 1...1_000_000, "--value-size")
        try confirm(batch, in: 1...1_000_000, "--batch")
        try confirm(readers, in: 1...64, "--readers")
        if let repetitions { try confirm(repetitions, in: 1...1000, "--repetitions") }
        try confirm(warmUp, in: 0...1000, "--warm-up")
        if failOnRegression, compare == nil {
            throw ValidationError("--fail-on-regression needs the run to compare with: --compare OLD.json.")
        }
        let fewest = BenchmarkComparison.fewestRepetitions
        if failOnRegression, settings.repetitions < fewest {
            throw ValidationError(
                "--fail-on-regression needs \(fewest) repetitions at least: of fewer, no difference can be told from chance."
            )
        }
    }

    /// What is measured, and how.
    var settings: BenchmarkSettings {
        BenchmarkSettings(
            rows: rows?.numbers ?? [quick ? 20_000 : 100_000], columns: columns, valueSize: valueSize,
            keyOrder: keyOrder, batch: batch, readers: readers, seed: seed,
            repetitions: repetitions ?? usualRepetitions, warmUp: warmUp, verifiesAll: verify, isQuick: quick)
    }

    /// As many as a comparison needs, where there is one.
    private var usualRepetitions: Int { compare != nil ? BenchmarkComparison.fewestRepetitions : quick ? 3 : 5 }
}

extension KeyOrder: ExpressibleByArgument {}

/// The numbers of `--rows`.
struct RowCounts: Sendable, Hashable {
    /// In their order, each once.
    let numbers: [Int]

    /// How many rows there may be.
    static let range = 100...100_000_000

    /// Reads numbers with commas between them; `k` stands for thousand and `m` for million.
    /// - Throws: `ValidationError` for what is no number, and for too few or too many rows.
    init(argument: String) throws {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        numbers = try words.map { word in
            guard let number = Self.number(word.lowercased()), Self.range.contains(number) else {
                throw ValidationError(
                    "--rows takes numbers from \(Self.range.lowerBound) to \(Self.range.upperBound / 1_000_000)m, such as"
                        + " 100000,1m; not \(String(word).debugDescription).")
            }
            return number
        }.uniqued()
    }

    private static func number(_ text: String) -> Int? {
        let units: [Character: Int] = ["k": 1_000, "m": 1_000_000]
        guard let unit = text.last.flatMap({ units[$0] }) else { return Int(text) }
        guard let number = Int(text.dropLast()) else { return nil }
        let (product, isTooBig) = number.multipliedReportingOverflow(by: unit)
        return isTooBig ? nil : product
    }
}
