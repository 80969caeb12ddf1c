#if Commands
public import ArgumentParser
internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// The options of ``BenchCommand``.
public struct BenchOptions: ParsableArguments, Sendable {
    /// A one-line description of the command.
    public static let abstract = "Measure how fast stores are, beside the bare engines."
    /// A longer description of the command.
    public static let discussion = """
        Each store performs every workload repeatedly, in turn with the others, and every answer is checked. Only a release \
        build on an idle machine gives meaningful figures.

        Exit status: 0 for success, 1 after a wrong answer, a failure, or a regression with --fail-on-regression, 2 for an \
        invalid command line or a report that cannot be written, 130 after an interruption.
        """

    @Option(
        name: .customLong("store"),
        help: ArgumentHelp(
            "A store to measure, or several separated by commas; all by default.",
            discussion: """
                May be repeated. Settings follow the store: NAME,SETTING=VALUE. NAME:FOLDER puts its databases into a \
                directory of its own.
                """,
            valueName: "name"))
    var stores: [String] = []

    @Flag(inversion: .prefixedNo, help: "Whether to measure the bare engines, too.")
    var baseline = true

    @Option(
        help: ArgumentHelp(
            "The workloads to run: an id, in which * matches any letters, or a group such as reading. See --list.",
            discussion: "May be repeated.", valueName: "pattern"))
    var filter: [String] = []

    @Option(
        help: ArgumentHelp(
            "The number of rows in the table, or several separated by commas, such as 100000,1m.", valueName: "numbers"),
        transform: { try RowCounts(argument: $0) })
    var rows: RowCounts?

    @Option(help: ArgumentHelp("The number of columns besides the id.", valueName: "number"))
    var columns: Int = BenchmarkTable.leastColumns

    @Option(help: ArgumentHelp("The size of a text in bytes.", valueName: "bytes"))
    var valueSize: Int = 32

    @Option(help: "The order of new ids: \(KeyOrder.allCases.map(\.rawValue).joined(separator: ", ")).")
    var keyOrder: KeyOrder = .random

    @Option(help: ArgumentHelp("The number of rows in a transaction of a bulk workload.", valueName: "rows"))
    var batch: Int = 1000

    @Option(help: ArgumentHelp("The maximum number of concurrent readers.", valueName: "number"))
    var readers: Int = 8

    @Option(help: ArgumentHelp("The durability of all stores that have this setting.", valueName: "level"))
    var durability: String?

    @Option(help: "The seed of all random data and choices.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "The number of measured iterations; 5 by default, 3 with --quick, 9 with --compare.",
            valueName: "number"))
    var repetitions: Int?

    @Option(help: ArgumentHelp("The number of iterations before them, not measured.", valueName: "number"))
    var warmUp: Int = 1

    @Flag(help: "Read and check all rows after each workload that changes some.")
    var verify = false

    @Flag(help: "Run fewer workloads with fewer repetitions and 20000 rows, in under a minute.")
    var quick = false

    @Flag(help: "Keep the databases.")
    var keep = false

    @Option(
        help: ArgumentHelp(
            "The directory for the databases, which must be empty or not exist; a temporary directory by default.",
            valueName: "folder"))
    var directory: String?

    @Flag(help: "Delete the databases of an earlier run in the directory, and no other files.")
    var force = false

    @OptionGroup var reports: ReportOptions

    @Option(help: ArgumentHelp("Write the report as CSV, one line for each iteration.", valueName: "path"))
    var csv: String?

    @Option(help: ArgumentHelp("Compare with an earlier run, from its --json report.", valueName: "path"))
    var compare: String?

    @Flag(help: "Exit with status 1 if something is significantly slower than with --compare, or nothing is tested.")
    var failOnRegression = false

    /// Creates options, for the parser.
    public init() {}

    /// Checks the values.
    public func validate() throws {
        try confirm(columns, in: BenchmarkTable.leastColumns...1000, "--columns")
        try confirm(valueSize, in: 1...1_000_000, "--value-size")
        try confirm(batch, in: 1...1_000_000, "--batch")
        try confirm(readers, in: 1...64, "--readers")
        if let repetitions { try confirm(repetitions, in: 1...1000, "--repetitions") }
        try confirm(warmUp, in: 0...1000, "--warm-up")
        try reports.confirmIsWritten(outputs)
        if failOnRegression, compare == nil {
            throw ValidationError("--fail-on-regression needs an earlier run: add --compare OLD.json.")
        }
        let fewest = BenchmarkComparison.fewestRepetitions
        if failOnRegression, settings.repetitions < fewest {
            throw ValidationError(
                "--fail-on-regression needs at least \(fewest) repetitions; with fewer, no difference is significant.")
        }
    }

    /// The settings of the run.
    var settings: BenchmarkSettings {
        BenchmarkSettings(
            rows: rows?.numbers ?? [quick ? 20_000 : 100_000], columns: columns, valueSize: valueSize,
            keyOrder: keyOrder, batch: batch, readers: readers, seed: seed,
            repetitions: repetitions ?? usualRepetitions, warmUp: warmUp, verifiesAll: verify, isQuick: quick)
    }

    /// The default number of repetitions; a comparison needs the most.
    private var usualRepetitions: Int { compare != nil ? BenchmarkComparison.fewestRepetitions : quick ? 3 : 5 }
}

extension KeyOrder: ExpressibleByArgument {}

/// The value of `--rows`.
struct RowCounts: Sendable, Hashable {
    /// The numbers in order, without duplicates.
    let numbers: [Int]

    /// The valid numbers of rows.
    static let range = 100...100_000_000

    /// Parses numbers separated by commas, with the suffixes `k` for thousands and `m` for millions.
    /// - Throws: `ValidationError` for invalid numbers.
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
#endif
