#if Commands
internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// Texts about the conditions of a run.
enum RunFacts {
    /// The warning about a debug build.
    static let debugWarning = [
        "DEBUG BUILD: THESE FIGURES ARE MEANINGLESS.",
        "Unoptimized Swift is many times slower, but the engines are not. Build with -c release.",
    ]

    static let interruption = "The run was interrupted; some figures are missing."

    /// Warnings about an incomplete run and about a busy machine.
    static func warnings(_ report: BenchmarkReport) -> [String] {
        [
            report.isInterrupted ? interruption : nil, report.stopReason.map { "The run ended early: \($0)" },
            busyMachine(report.environment),
        ].compactMap { $0 }
    }

    /// The number of processors in use by other programs from which a machine is busy.
    private static let leastBusy = 0.2

    /// A warning about other programs that used the machine during the run.
    static func busyMachine(_ environment: BenchmarkEnvironment) -> String? {
        guard let others = environment.otherProcessors, others >= leastBusy else { return nil }
        return """
            The machine was busy: other programs used \(String(format: "%.1f", others)) of \
            \(counted(environment.host.processors, "processor")) during the run. Measure again when it is idle.
            """
    }

    /// Whether the figures are from a debug build.
    static func isDebug(_ report: BenchmarkReport) -> Bool { report.environment.host.build != "release" }

    /// All facts: the environment, the settings and the subjects.
    static func all(_ report: BenchmarkReport) -> [(String, String)] {
        environment(report) + [("Settings", settings(report.settings))] + subjects(report)
    }

    /// The machine, the build and the date.
    static func environment(_ report: BenchmarkReport) -> [(String, String)] {
        let (environment, host) = (report.environment, report.environment.host)
        let processors = counted(host.processors, "processor")
        return [
            (
                "Machine",
                "\(environment.processor), \(processors), \(FigureFormat.bytes(environment.memory)) of memory"
            ),
            ("System", "\(host.system), \(host.kernel), files on \(environment.fileSystem)"),
            (
                "Build",
                "Swift \(host.swift), \(host.build)" + (environment.commit.map { ", commit \($0)" } ?? "")
            ),
            ("Date", host.date),
        ]
    }

    /// The settings.
    static func settings(_ settings: BenchmarkSettings) -> String {
        let repetitions = counted(settings.repetitions, "repetition")
        let parts = [
            "\(settings.columns) columns", "texts of \(settings.valueSize) bytes", "\(order(settings.keyOrder)) ids",
            "seed \(settings.seed)", "\(repetitions) after \(counted(settings.warmUp, "warm-up"))",
        ]
        return parts.joined(separator: ", ") + (settings.isQuick ? " (quick)" : "")
    }

    /// The subjects, each with its engine, durability and settings.
    static func subjects(_ report: BenchmarkReport) -> [(String, String)] {
        let databases = Set(report.results.lazy.filter { $0.group != .json }.flatMap(\.subjects).map(\.subject))
        return report.subjects.map { subject in
            let engine = [subject.engine, subject.engineVersion].compactMap { $0 }.joined(separator: " ")
            let kind = subject.kind == .baseline ? "bare \(engine) in C" : engine
            let survival = databases.contains(subject.name) ? [survival(subject.durability)] : []
            return (subject.name, ([kind] + survival + subject.settings).joined(separator: ", "))
        }
    }

    /// A short text for a durability.
    static func survival(_ durability: StoreCapabilities.Durability) -> String {
        switch durability {
        case .none: "in memory only"
        case .normal: "commits survive a crash of the program"
        case .full: "commits survive a power loss"
        }
    }

    private static func order(_ order: KeyOrder) -> String { order == .uuid7 ? "UUIDv7" : order.rawValue }

    /// The meanings of the symbols in tables.
    static func legend(
        _ report: BenchmarkReport, _ detail: FigureDetail = .spread
    ) -> [(sign: String, meaning: String)] {
        let repetitions = counted(report.settings.repetitions, "repetition")
        let time = "for one unit (µs/row is microseconds per row): the median of \(repetitions). Less is better."
        guard report.figures.contains(where: { $0.subjects.contains { $0.ratio != nil } }) else {
            return [("time", time)] + fastest(report)
        }
        guard detail >= .ratio else {
            return [("time", time + " A wider terminal also shows the ratio to the same work in C.")] + fastest(report)
        }
        let ratio =
            "speed relative to the same work in C on the bare engine with equal durability; 0.5 is half as fast."
        let margin =
            detail == .spread
            ? " ± is the margin of error of the median." : " A wider terminal also shows the margin of error."
        let unclear = " It is \(FigureFormat.unclear) if the margin is more than a third of it."
        return [("time", time), ("×C", ratio + margin + unclear)] + fastest(report)
    }

    private static func fastest(_ report: BenchmarkReport) -> [(sign: String, meaning: String)] {
        guard report.figures.contains(where: { $0.subjects.contains(where: \.isFastest) }) else { return [] }
        return [
            (
                "*",
                "the fastest with this durability, or not significantly slower. None if the margin is more than a third."
            )
        ]
    }
}
#endif
