/// Two reports held against each other: what has become faster, and what slower.
///
/// Where both reports have a ratio to the bare engine, the ratios are compared, as they vary less from run to run than times
/// do; else the times. Whether a difference is more than chance is told by the two-sided test of Mann and Whitney over the
/// repetitions, from nine on both sides. As many such tests find something by chance alone, their probabilities are corrected
/// after Holm: with ``significance``, fewer than one in a hundred comparisons of equal programs call anything different.
///
/// Baselines are what others are held against, so they are not compared themselves.
public struct BenchmarkComparison: Sendable, Hashable {
    /// The fewest repetitions of which the test can tell anything.
    public static let fewestRepetitions = 9
    /// Below which corrected probability a difference is held to be real.
    public static let significance = 0.01
    /// From which share on a slowdown that is real is a regression.
    public static let leastRegression = 0.03

    /// Every subject in every workload of either report.
    public var entries: [Entry]
    /// What makes the comparison doubtful, such as another machine.
    public var warnings: [String]

    /// Whether anything is really slower, and by at least ``leastRegression``.
    public var hasRegression: Bool { entries.contains(where: \.isRegression) }

    /// One subject in one workload.
    public struct Entry: Sendable, Hashable {
        /// The workload's id.
        public var workload: String
        /// The workload's title.
        public var title: String
        /// How many rows the table had.
        public var rows: Int
        /// The subject.
        public var subject: String
        /// What is compared.
        public var basis: Basis
        /// The old figure; nil where there is none.
        public var old: Spread?
        /// The new figure; nil where there is none.
        public var new: Spread?
        /// By which share it takes longer than before, less than zero where it is faster; nil where either has no figure.
        public var change: Double?
        /// The test's probability, corrected for the number of tests; nil where there was none.
        public var probability: Double?
        /// What it comes to.
        public var verdict: Verdict

        /// Whether it is a regression.
        public var isRegression: Bool {
            verdict == .slower && (change ?? 0) >= BenchmarkComparison.leastRegression
        }
    }

    /// What is compared.
    public enum Basis: String, Sendable, Hashable {
        /// The ratio to the bare engine of the same run.
        case ratio
        /// The time of a unit in seconds.
        case time
    }

    /// What a comparison comes to.
    public enum Verdict: Sendable, Hashable {
        /// It is faster, and not by chance.
        case faster
        /// It is slower, and not by chance.
        case slower
        /// They cannot be told apart.
        case same
        /// There are fewer than ``fewestRepetitions``.
        case tooFew
        /// Only the old report has a figure.
        case onlyOld
        /// Only the new report has a figure.
        case onlyNew
        /// It was not the same work; the reason.
        case different(String)
    }

    /// Why two reports are not compared at all.
    public struct Mismatch: Error, CustomStringConvertible {
        /// Which setting differs.
        public let description: String
    }

    /// Holds a new report against an old one.
    /// - Throws: ``Mismatch`` when they measured different things.
    public init(old: BenchmarkReport, new: BenchmarkReport) throws(Mismatch) {
        try Self.confirmSettings(old.settings, new.settings)
        entries = Self.entries(old, new)
        warnings = Self.warnings(old, new)
        correct()
    }

    /// Corrects the probabilities after Holm (1979): the least is multiplied by the number of tests, the next by one fewer,
    /// and none becomes less than the one before. Then the verdicts are given.
    private mutating func correct() {
        let tested = entries.indices.filter { entries[$0].probability != nil }
            .sorted { (entries[$0].probability ?? 1, $0) < (entries[$1].probability ?? 1, $1) }
        var last = 0.0
        for (place, index) in tested.enumerated() {
            last = max(last, min((entries[index].probability ?? 1) * Double(tested.count - place), 1))
            entries[index].probability = last
            let isReal = last < Self.significance
            entries[index].verdict = !isReal ? .same : (entries[index].change ?? 0) > 0 ? .slower : .faster
        }
        warnIfBlind(tests: tested.count)
    }

    /// So many tests may be more than the repetitions can bear: then even the clearest difference is called chance.
    private mutating func warnIfBlind(tests: Int) {
        let counts = entries.filter { $0.probability != nil }.compactMap { entry in
            entry.old.flatMap { old in entry.new.map { (old.count, $0.count) } }
        }
        guard let most = counts.max(by: { $0.0 + $0.1 < $1.0 + $1.1 }) else { return }
        guard MannWhitney.leastProbability(most.0, most.1) * Double(tests) >= Self.significance else { return }
        warnings.append(
            "\(tests) comparisons are too many for the repetitions: none could be told from chance. "
                + "Choose fewer workloads or more repetitions.")
    }
}

extension BenchmarkComparison {
    /// Makes sure that both measured the same thing.
    static func confirmSettings(_ old: BenchmarkSettings, _ new: BenchmarkSettings) throws(Mismatch) {
        let settings: [(name: String, old: String, new: String)] = [
            ("rows", "\(old.rows)", "\(new.rows)"), ("columns", "\(old.columns)", "\(new.columns)"),
            ("value size", "\(old.valueSize)", "\(new.valueSize)"),
            ("key order", old.keyOrder.rawValue, new.keyOrder.rawValue), ("batch", "\(old.batch)", "\(new.batch)"),
            ("readers", "\(old.readers)", "\(new.readers)"), ("seed", "\(old.seed)", "\(new.seed)"),
        ]
        for setting in settings where setting.old != setting.new {
            throw Mismatch(
                description: "the results cannot be compared: the setting \"\(setting.name)\" was \(setting.old), "
                    + "and is \(setting.new)")
        }
    }

    /// What makes the comparison doubtful.
    static func warnings(_ old: BenchmarkReport, _ new: BenchmarkReport) -> [String] {
        var warnings = differences(old, new).filter { $0.old != $0.new }.map { fact in
            "another \(fact.name): \(fact.old.debugDescription) before, \(fact.new.debugDescription) now"
        }
        for (report, name) in [(old, "old"), (new, "new")] {
            if BenchmarkFacts.isDebug(report) { warnings.append("the \(name) results are of a debug build: worthless") }
            if report.isInterrupted || report.stopReason != nil {
                warnings.append("the \(name) run did not come to its end")
            }
            if BenchmarkFacts.busyMachine(report.environment) != nil {
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
            old.subjects.first { $0.name == subject.name }.map { was in
                ("version of \(subject.engine)", was.engineVersion ?? "unknown", subject.engineVersion ?? "unknown")
            }
        }
        let facts: [(String, String, String)] = [
            ("processor", before.processor, after.processor),
            ("number of processors", "\(before.host.processors)", "\(after.host.processors)"),
            ("memory size", BenchmarkWords.bytes(before.memory), BenchmarkWords.bytes(after.memory)),
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
