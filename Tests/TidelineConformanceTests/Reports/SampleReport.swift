import TidelineStore
import TidelineSupport

@testable import TidelineConformance

/// A sample report with every status and with texts that must be treated as plain text.
enum SampleReport {
    /// Markup, quotation marks, section ends, pipes, line ends, control characters, a change of text direction.
    static let nasty =
        "<script>alert(1)</script>&amp; \"it's\" ]]> a|b `c` *d*\nnext\r\u{0}\u{1B}[31m\u{7}\u{202E}\u{FFFE}é🙂"

    static let checks = [
        CheckSummary(id: "UPS-001", group: .upsert, tier: .required, promise: "An insert stores the row"),
        CheckSummary(
            id: "UPS-002", group: .upsert, tier: .stress, promise: "Promise \(nasty)", explanation: "Why \(nasty)"),
        CheckSummary(
            id: "FIL-001", group: .filters, tier: .capability, promise: "NaN is found", needs: [.nan, .noNaN]),
        CheckSummary(
            id: "DUR-001", group: .durability, tier: .capability, promise: "It survives",
            needs: [.fullDurability, .process]),
        CheckSummary(id: "DUR-002", group: .durability, tier: .required, promise: "It survives more"),
        CheckSummary(id: "DUR-003", group: .durability, tier: .required, promise: "It survives all"),
        CheckSummary(id: "MOD-001", group: .model, tier: .stress, promise: "It is as the model is"),
    ]

    /// Two stores: one with every status and one that passes.
    static var report: ConformanceReport {
        ConformanceReport(
            suite: SuiteSummary(version: "1.2", checks: 7),
            settings: ReportSettings(ConformanceSettings(seed: .max, rounds: 3)),
            environment: ReportEnvironment(
                date: "2026-01-02T03:04:05Z", system: "An OS \(nasty)", kernel: "1.0", processors: 2, swift: "6.3",
                build: "debug"),
            checks: checks,
            stores: [
                StoreReport(
                    name: "bad \(nasty)", capabilities: StoreCapabilities(name: nasty), results: results,
                    seconds: 12.25, among: all),
                StoreReport(
                    name: "good", capabilities: nil,
                    results: checks.map { CheckResult(id: $0.id, status: .passed, seconds: 0.5) }, seconds: 3.5,
                    among: all),
            ])
    }

    /// The checks as the suite would declare them.
    static let all = checks.map { Check($0.id, $0.promise) { _ in } }

    private static var results: [CheckResult] {
        let failure = CheckResult.Failure(message: "found \(nasty)", seed: .max, script: "let a = 1\n// \(nasty)")
        return [
            CheckResult(id: "UPS-001", status: .passed, seconds: 0.25),
            CheckResult(id: "UPS-002", status: .failed, failure: failure, seconds: 1),
            CheckResult(id: "FIL-001", status: .skipped, reason: "declared: \(nasty)"),
            CheckResult(id: "DUR-001", status: .notRun, reason: "no hook"),
            CheckResult(id: "DUR-002", status: .knownFailure, reason: "issue 12", failure: failure),
            CheckResult(id: "DUR-003", status: .unexpectedPass, reason: "issue 13"),
            CheckResult(
                id: "MOD-001", status: .harnessError, failure: .init(message: "no folder", seed: 1, script: nil)),
        ]
    }
}
