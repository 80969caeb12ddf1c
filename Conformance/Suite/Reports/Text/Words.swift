internal import Foundation
internal import TidelineSupport

/// How reports say things, alike in every form.
enum Words {
    /// A status as a heading or a cell has it.
    static func title(_ status: CheckStatus) -> String {
        switch status {
        case .passed: "passed"
        case .failed: "failed"
        case .kitError: "kit error"
        case .skipped: "skipped"
        case .knownFailure: "known failure"
        case .unexpectedPass: "unexpected pass"
        case .notRun: "not run"
        }
    }

    /// A sign for a status, which differs from the others by its shape.
    static func sign(_ status: CheckStatus) -> String {
        switch status {
        case .passed: "✓"
        case .failed: "✗"
        case .kitError: "!"
        case .skipped: "–"
        case .knownFailure: "(✗)"
        case .unexpectedPass: "(✓)"
        case .notRun: "○"
        }
    }

    /// What a status means, for a legend.
    static func meaning(_ status: CheckStatus) -> String {
        switch status {
        case .passed: "the promise holds"
        case .failed: "it does not"
        case .kitError: "the suite itself could not do what the check needs"
        case .skipped: "the store declares that the promise is not its"
        case .knownFailure: "it does not hold, which the list of known failures says"
        case .unexpectedPass: "it holds, though the list of known failures says it does not"
        case .notRun: "the harness lacks a hook that the check needs, or the run ended before"
        }
    }

    /// A tier as a list of checks has it.
    static func title(_ tier: CheckTier) -> String {
        switch tier {
        case .required: "required"
        case .capability: "by capability"
        case .stress: "stress"
        }
    }

    /// A need as a list of checks has it, such as `full durability`.
    static func title(_ need: CheckNeed) -> String {
        switch need {
        case .nan: "NaN"
        case .noNaN: "no NaN"
        default:
            need.rawValue.reduce(into: "") { words, letter in
                words += letter.isUppercase ? " \(letter.lowercased())" : String(letter)
            }
        }
    }

    /// A number with its noun, as one writes it: `1 check`, `2 checks`.
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// A time in seconds.
    static func seconds(_ seconds: Double) -> String {
        String(format: seconds < 0.0995 ? "%.3f s" : "%.1f s", seconds)
    }

    /// What names a run: the suite, how and where it ran.
    static func run(_ report: ConformanceReport) -> [(String, String)] {
        let (settings, environment) = (report.settings, report.environment)
        return [
            ("Suite", "\(report.suite.version), \(counted(report.suite.checks, "check"))"),
            ("Profile", settings.profile.title),
            ("Seed, rounds, rows", "\(settings.seed), \(settings.rounds), \(settings.rows)"),
            ("System", "\(environment.system), \(environment.kernel)"),
            ("Processors", "\(environment.processors)"),
            ("Swift", "\(environment.swift), \(environment.build) build"),
            ("Date", environment.date),
        ]
    }

    /// The options of the command that repeat one check on one store, as one types them.
    static func options(_ result: CheckResult, store: String, _ report: ConformanceReport) -> String {
        var options = ["--store", store, "--filter", result.id]
        options += ["--seed", "\(result.failure?.seed ?? report.settings.seed)"]
        if report.settings.rounds != 1 { options += ["--rounds", "\(report.settings.rounds)"] }
        if report.settings.rows != ConformanceSettings().rows { options += ["--rows", "\(report.settings.rows)"] }
        return options.map(quoted).joined(separator: " ")
    }

    /// A word as a shell takes it as one.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "-_./,:=+@%".unicodeScalars.contains(scalar)
        }
        return isPlain && !word.isEmpty ? word : "'\(Escape.line(word).replacing("'", with: "'\\''"))'"
    }
}
