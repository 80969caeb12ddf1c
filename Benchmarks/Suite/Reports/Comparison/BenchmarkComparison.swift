#if Commands
internal import TidelineSupport

/// A comparison of two reports, which finds speedups and slowdowns.
///
/// It compares the ratios to the bare engine if both reports have them, because they vary less between runs than times;
/// otherwise it compares the times. The two-sided Mann-Whitney test over at least nine iterations on each side decides
/// whether a difference is significant. Holm's correction accounts for the number of tests: with ``significance``,
/// fewer than one in a hundred comparisons of equal programs report any difference.
///
/// Baselines are references and are not compared themselves.
package struct BenchmarkComparison: Sendable, Hashable {
    /// The minimum number of iterations for a test.
    package static let fewestRepetitions = 9
    /// The corrected probability below which a difference is significant.
    package static let significance = 0.01
    /// The minimum share by which a significant slowdown is a regression.
    package static let leastRegression = 0.03

    /// The entries for all subjects in all workloads of both reports.
    package var entries: [Entry]
    /// Warnings about different conditions, such as another machine.
    package var warnings: [String]

    /// Whether an entry is a regression.
    package var hasRegression: Bool { entries.contains(where: \.isRegression) }
    /// Whether a regression can be found at all: something was tested, with enough iterations for the number of tests.
    package private(set) var findsRegressions = false

    /// The comparison of a subject in a workload.
    package struct Entry: Sendable, Hashable {
        /// The identifier of the workload.
        package var workload: String
        /// The number of rows in the table.
        package var rows: Int
        /// The name of the subject.
        package var subject: String
        /// The figure that is compared.
        package var basis: Basis
        /// The old figure, or `nil` if there is none.
        package var old: Spread?
        /// The new figure, or `nil` if there is none.
        package var new: Spread?
        /// The relative change in time, negative if it is faster; `nil` if a figure is missing.
        package var change: Double?
        /// The corrected probability of the test, or `nil` if there was no test.
        package var probability: Double?
        /// The verdict.
        package var verdict: Verdict

        /// Whether it is a regression.
        package var isRegression: Bool {
            verdict == .slower && (change ?? 0) >= BenchmarkComparison.leastRegression
        }
    }

    /// The figures to compare.
    package enum Basis: String, Sendable, Hashable {
        /// The ratio to the bare engine of the same run.
        case ratio
        /// The time of a unit in seconds.
        case time
    }

    /// The result of a comparison.
    package enum Verdict: Sendable, Hashable {
        /// Significantly faster.
        case faster
        /// Significantly slower.
        case slower
        /// No significant difference.
        case same
        /// Fewer than ``fewestRepetitions`` iterations.
        case tooFew
        /// Only the old report has a figure.
        case onlyOld
        /// Only the new report has a figure.
        case onlyNew
        /// The works differ, for the given reason.
        case different(String)
    }

    /// Compares a new report with an old one.
    /// - Throws: ``BenchmarkError`` if they have different settings.
    package init(old: BenchmarkReport, new: BenchmarkReport) throws(BenchmarkError) {
        try Self.confirmSettings(old.settings, new.settings)
        entries = Self.entries(old, new)
        warnings = Self.warnings(old, new)
        correct()
    }

    /// Applies Holm's correction (1979): multiplies the smallest probability by the number of tests, the next by one
    /// less, and so on, and keeps the order. Then sets the verdicts.
    private mutating func correct() {
        let tested = entries.indices.filter { entries[$0].probability != nil }
            .sorted { (entries[$0].probability ?? 1, $0) < (entries[$1].probability ?? 1, $1) }
        var last = 0.0
        for (position, index) in tested.enumerated() {
            last = max(last, min((entries[index].probability ?? 1) * Double(tested.count - position), 1))
            entries[index].probability = last
            let isReal = last < Self.significance
            entries[index].verdict = !isReal ? .same : (entries[index].change ?? 0) > 0 ? .slower : .faster
        }
        warnIfBlind(tests: tested.count)
    }

    /// Finds out whether there are tests. Warns if there are too many for the iterations, so that even the clearest
    /// difference is not significant.
    private mutating func warnIfBlind(tests: Int) {
        let counts = entries.filter { $0.probability != nil }.compactMap { entry in
            entry.old.flatMap { old in entry.new.map { (old.count, $0.count) } }
        }
        guard let most = counts.max(by: { $0.0 + $0.1 < $1.0 + $1.1 }) else { return }
        findsRegressions = MannWhitney.leastProbability(most.0, most.1) * Double(tests) < Self.significance
        guard !findsRegressions else { return }
        warnings.append(
            "\(tests) comparisons are too many for the number of repetitions: no difference can be significant. "
                + "Use fewer workloads or more --repetitions.")
    }
}

extension BenchmarkComparison {
    /// Checks that both runs have the same settings.
    static func confirmSettings(_ old: BenchmarkSettings, _ new: BenchmarkSettings) throws(BenchmarkError) {
        let settings: [(name: String, old: String, new: String)] = [
            ("rows", "\(old.rows)", "\(new.rows)"), ("columns", "\(old.columns)", "\(new.columns)"),
            ("value size", "\(old.valueSize)", "\(new.valueSize)"),
            ("key order", old.keyOrder.rawValue, new.keyOrder.rawValue), ("batch", "\(old.batch)", "\(new.batch)"),
            ("readers", "\(old.readers)", "\(new.readers)"), ("seed", "\(old.seed)", "\(new.seed)"),
        ]
        for setting in settings where setting.old != setting.new {
            throw BenchmarkError(
                "the results cannot be compared: the setting \"\(setting.name)\" is \(setting.old) in the old "
                    + "results and \(setting.new) in the new ones")
        }
    }

    /// The warnings about different conditions.
    static func warnings(_ old: BenchmarkReport, _ new: BenchmarkReport) -> [String] {
        var warnings = differences(old, new).filter { $0.old != $0.new }.map { fact in
            "different \(fact.name): \(fact.old.debugDescription) before, \(fact.new.debugDescription) now"
        }
        for (report, name) in [(old, "old"), (new, "new")] {
            if RunFacts.isDebug(report) {
                warnings.append("the \(name) results are from a debug build and meaningless")
            }
            if report.isInterrupted || report.stopReason != nil {
                warnings.append("the \(name) run did not complete")
            }
            if RunFacts.busyMachine(report.environment) != nil {
                warnings.append("other programs used the machine during the \(name) run")
            }
        }
        return warnings
    }

    private static func differences(
        _ old: BenchmarkReport, _ new: BenchmarkReport
    ) -> [(name: String, old: String, new: String)] {
        let (before, after) = (old.environment, new.environment)
        let engines = new.subjects.compactMap { subject in
            old.subjects.first { $0.name == subject.name }.map { before in
                ("version of \(subject.engine)", before.engineVersion ?? "unknown", subject.engineVersion ?? "unknown")
            }
        }
        let facts: [(String, String, String)] = [
            ("processor", before.processor, after.processor),
            ("number of processors", "\(before.host.processors)", "\(after.host.processors)"),
            ("memory size", FigureFormat.bytes(before.memory), FigureFormat.bytes(after.memory)),
            ("file system", before.fileSystem, after.fileSystem), ("system", before.host.system, after.host.system),
            ("kernel", before.host.kernel, after.host.kernel), ("compiler", before.host.swift, after.host.swift),
            ("build", before.host.build, after.host.build),
            ("number of warm-ups", "\(old.settings.warmUp)", "\(new.settings.warmUp)"),
        ]
        return facts
            + engines.reduce(into: []) { unique, engine in
                if !unique.contains(where: { $0.0 == engine.0 }) { unique.append(engine) }
            }
    }
}
#endif
