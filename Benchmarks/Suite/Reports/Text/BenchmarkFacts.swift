internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// What a report says of the run itself: where it took place, how, and with whom.
enum BenchmarkFacts {
    /// What it says of a debug build, whose figures are no figures.
    static let debugWarning = [
        "DEBUG BUILD: THESE FIGURES ARE WORTHLESS.",
        "Unoptimised Swift is many times slower, while the engines below are not. Build with -c release.",
    ]

    /// What it says of a run that was stopped.
    static let interruption = "The run was interrupted: what is missing was not measured."

    /// Warnings about a run that did not come to its end, and one beside other programs.
    static func warnings(_ report: BenchmarkReport) -> [String] {
        [
            report.isInterrupted ? interruption : nil, report.stopReason.map { "The run ended early: \($0)" },
            busyMachine(report.environment),
        ].compactMap { $0 }
    }

    /// From how many processors on that other programs keep busy a machine counts as busy.
    private static let leastBusy = 0.2

    /// A warning about a machine that other programs used during the run.
    static func busyMachine(_ environment: BenchmarkEnvironment) -> String? {
        guard let others = environment.otherProcessors, others >= leastBusy else { return nil }
        return """
            The machine was busy: other programs used \(String(format: "%.1f", others)) of \
            \(counted(environment.host.processors, "processor")) during the run. Measure again when it is idle.
            """
    }

    /// Whether the figures count at all.
    static func isDebug(_ report: BenchmarkReport) -> Bool { report.environment.host.build != "release" }

    /// The machine and the build.
    static func environment(_ report: BenchmarkReport) -> [(String, String)] {
        let (environment, host) = (report.environment, report.environment.host)
        let processors = counted(host.processors, "processor")
        return [
            (
                "Machine",
                "\(environment.processor), \(processors), \(BenchmarkWords.bytes(environment.memory)) of memory"
            ),
            ("System", "\(host.system), \(host.kernel), files on \(environment.fileSystem)"),
            (
                "Build",
                "Swift \(host.swift), \(host.build)" + (environment.commit.map { ", commit \($0)" } ?? "")
            ),
            ("Date", host.date),
        ]
    }

    /// How it was measured.
    static func settings(_ settings: BenchmarkSettings) -> String {
        let repetitions = counted(settings.repetitions, "repetition")
        let parts = [
            "\(settings.columns) columns", "texts of \(settings.valueSize) bytes", "\(order(settings.keyOrder)) ids",
            "seed \(settings.seed)", "\(repetitions) after \(counted(settings.warmUp, "warm-up"))",
        ]
        return parts.joined(separator: ", ") + (settings.isQuick ? " (quick)" : "")
    }

    /// Those that were measured, each with its engine, what a commit of it survives, and its settings.
    static func subjects(_ report: BenchmarkReport) -> [(String, String)] {
        let databases = Set(report.results.lazy.filter { $0.group != .json }.flatMap(\.subjects).map(\.subject))
        return report.subjects.map { subject in
            let engine = [subject.engine, subject.engineVersion].compactMap { $0 }.joined(separator: " ")
            let kind = subject.kind == .baseline ? "bare \(engine) from C" : engine
            let survival = databases.contains(subject.name) ? [survival(subject.durability)] : []
            return (subject.name, ([kind] + survival + subject.settings).joined(separator: ", "))
        }
    }

    /// What a commit survives, in a few words.
    static func survival(_ durability: StoreCapabilities.Durability) -> String {
        switch durability {
        case .none: "in memory only"
        case .normal: "commits survive a crash of the program"
        case .full: "commits survive a loss of power"
        }
    }

    private static func order(_ order: KeyOrder) -> String {
        switch order {
        case .random: "random"
        case .sequential: "sequential"
        case .uuid7: "UUIDv7"
        }
    }
}

extension BenchmarkFacts {
    /// What the signs of a table mean.
    static func legend(
        _ report: BenchmarkReport, _ detail: FigureDetail = .spread
    ) -> [(sign: String, meaning: String)] {
        let repetitions = counted(report.settings.repetitions, "repetition")
        let time = "for one unit, as µs/row is microseconds for a row: the median of \(repetitions). Less is better."
        guard report.figures.contains(where: { $0.subjects.contains { $0.ratio != nil } }) else {
            return [("time", time)] + fastest(report)
        }
        guard detail >= .ratio else {
            return [("time", time + " A wider terminal also shows the ratio to the same work in C.")] + fastest(report)
        }
        let ratio = """
            speed against the same work in C on the bare engine with equal durability: 1 is as fast, 0.5 half as fast.
            """
        let reach =
            detail == .spread
            ? " ± is how far the median may be off." : " A wider terminal shows how far it may be off."
        let unclear = " Where that is more than a third of it, it is \(BenchmarkWords.unclear)."
        return [("time", time), ("×C", ratio + reach + unclear)] + fastest(report)
    }

    private static func fastest(_ report: BenchmarkReport) -> [(sign: String, meaning: String)] {
        guard report.figures.contains(where: { $0.subjects.contains(where: \.isFastest) }) else { return [] }
        return [("*", "the fastest of those whose commits survive as much, or too close to it to tell.")]
    }
}
