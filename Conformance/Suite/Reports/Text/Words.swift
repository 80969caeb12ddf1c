internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// The wording that reports of all forms share.
enum Words {
    /// Returns a duration in seconds.
    static func seconds(_ seconds: Double) -> String {
        String(format: seconds < 0.0995 ? "%.3f s" : "%.1f s", seconds)
    }

    /// Returns the properties of a run: the suite, its settings, and its environment.
    static func run(_ report: ConformanceReport) -> [(String, String)] {
        let (settings, environment) = (report.settings, report.environment)
        return [
            ("Suite", "\(report.suite.version), \(counted(report.suite.checks, "check"))"),
            settings.server.map { ("Server", $0) } ?? ("Profile", settings.profile.title),
            ("Seed, rounds, rows", "\(settings.seed), \(settings.rounds), \(settings.rows)"),
            ("System", "\(environment.system), \(environment.kernel)"),
            ("Processors", "\(environment.processors)"),
            ("Swift", "\(environment.swift), \(environment.build) build"),
            ("Date", environment.date),
        ]
    }

    /// Returns the command-line options that repeat one check on one store.
    static func options(_ result: CheckResult, store: String, _ report: ConformanceReport) -> String {
        var options = ["--\(report.subject)", store, "--filter", result.id]
        options += ["--seed", "\(result.failure?.seed ?? report.settings.seed)"]
        if report.settings.rounds != 1 { options += ["--rounds", "\(report.settings.rounds)"] }
        if let server = report.settings.server { options = ["--server", server] + options }
        if report.settings.server == nil, report.settings.rows != ConformanceSettings().rows {
            options += ["--rows", "\(report.settings.rows)"]
        }
        if report.settings.profile != .full { options += ["--profile", report.settings.profile.rawValue] }
        options += report.settings.options ?? []
        return options.map(quoted).joined(separator: " ")
    }

    /// Returns a word quoted for a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "-_./,:=+@%".unicodeScalars.contains(scalar)
        }
        return isPlain && !word.isEmpty ? word : "'\(Escape.line(word).replacing("'", with: "'\\''"))'"
    }
}

extension CheckStatus {
    /// The status as shown in reports, such as `known failure`.
    public var title: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .harnessError: "harness error"
        case .skipped: "skipped"
        case .knownFailure: "known failure"
        case .unexpectedPass: "unexpected pass"
        case .tolerated: "tolerated"
        case .notRun: "not run"
        }
    }

    /// A sign for the status, distinguishable by its shape.
    var sign: String {
        switch self {
        case .passed: "✓"
        case .failed: "✗"
        case .harnessError: "!"
        case .skipped: "–"
        case .knownFailure: "(✗)"
        case .unexpectedPass: "(✓)"
        case .tolerated: "~"
        case .notRun: "○"
        }
    }

    /// The meaning of the status for a legend.
    var meaning: String {
        switch self {
        case .passed: "the promise holds"
        case .failed: "the promise does not hold"
        case .harnessError: "the suite itself could not do what the check requires"
        case .skipped: "the subject declares or shows that it does not make the promise"
        case .knownFailure: "the promise does not hold, as listed in the known failures"
        case .tolerated: "the promise does not hold, and clients work nevertheless, as the reason says"
        case .unexpectedPass: "the promise holds although it is listed as a known failure"
        case .notRun: "the harness lacks a hook that the check requires, or the run ended earlier"
        }
    }
}

extension Check {
    /// The check as in reports and lists.
    package var summary: CheckSummary { CheckSummary(self) }
}

extension CheckTier {
    /// The tier as shown in reports, such as `by capability`.
    public var title: String {
        switch self {
        case .required: "required"
        case .capability: "by capability"
        case .tolerated: "tolerated"
        case .stress: "stress"
        case .long: "long"
        }
    }
}

extension CheckNeed {
    /// The requirement as shown in reports, such as `full durability`.
    public var title: String {
        switch self {
        case .nan: "NaN"
        case .noNaN: "no NaN"
        default:
            rawValue.reduce(into: "") { words, letter in
                words += letter.isUppercase ? " \(letter.lowercased())" : String(letter)
            }
        }
    }
}

/// Returns a store's text on one line for a terminal, with control characters made visible.
package func printable(_ text: String) -> String { Escape.line(text) }

/// A capability that a store declares, in words.
struct DeclaredFact: Sendable {
    /// The name of the capability.
    var title: String
    /// Returns the text of a store's declaration.
    var text: @Sendable (StoreCapabilities) -> String

    /// All declared capabilities.
    static let all: [DeclaredFact] = [
        DeclaredFact(title: "Adapter") { $0.name },
        DeclaredFact(title: "Version of the contract") { "\($0.contractVersion)" },
        DeclaredFact(title: "Keeps rows when closed") { answer($0.isPersistent) },
        DeclaredFact(title: "Durability") { $0.durability.rawValue },
        DeclaredFact(title: "Files shared with processes") { answer($0.sharesFilesWithProcesses) },
        DeclaredFact(title: "Readers do not block writers") { answer($0.readersDoNotBlockWriters) },
        DeclaredFact(title: "Stores NaN") { answer($0.storesNaN) },
        DeclaredFact(title: "Stores infinities") { answer($0.storesInfinity) },
        DeclaredFact(title: "Detects flipped bits") { answer($0.detectsBitFlips) },
        DeclaredFact(title: "Limits the time of queries") { answer($0.limitsQueryTime) },
        DeclaredFact(title: "Longest id") { "\($0.maximumIDLength)" },
    ]

    private static func answer(_ value: Bool) -> String { value ? "yes" : "no" }
}
