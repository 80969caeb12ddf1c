internal import TidelineSupport

/// A report as Markdown.
package struct MarkdownReport: Sendable {
    package init() {}

    package func text(of report: ConformanceReport) -> String {
        ReportDocument(report: report, isPage: false).document.markdown
    }
}

/// A report as one self-contained HTML page. It compares the stores side by side, can be filtered if scripts run, is
/// complete without scripts, and is readable on a phone.
package struct HTMLReport: Sendable {
    package init() {}

    package func text(of report: ConformanceReport) -> String {
        ReportDocument(report: report, isPage: true).document.html
    }
}

/// Lists checks as Markdown for documentation.
package struct MarkdownCheckList: Sendable {
    package init() {}

    /// Returns a heading and a table for each group of the checks.
    package func text(of checks: [CheckSummary]) -> String {
        CheckGroup.allCases.compactMap { group -> Block? in
            let members = checks.filter { $0.group == group }
            let rows = members.map { check in
                let needs = check.needs.map(\.title).joined(separator: ", ")
                return Table.Row([check.id, check.promise, check.tier.title, needs].map { RichText($0) })
            }
            let table = Table(group.title, heading: ["Check", "Promise", "Kind", "Needs"], rows: rows)
            return members.isEmpty ? nil : .section(group.title, [.table(table)])
        }.markdown(level: 2)
    }
}

/// The document of a report: the profiles that each store reaches, the failures, the capabilities, and a table of
/// checks by stores for each group. A check expands to its explanation and findings.
struct ReportDocument {
    /// A store with more failures than this has them collapsed.
    private static let shownFailures = 12

    let report: ConformanceReport
    /// Whether checks expand to their findings, so that the list of failures contains only the first lines.
    let isPage: Bool

    var document: Document {
        Document(
            "Conformance of \(report.settings.server ?? names.joined(separator: ", "))", introduction: introduction,
            body: [profiles] + failures + tolerated + capabilities + [passed] + omissions
                + [.section("The run", [.facts(Words.run(report))]), .html(ReportPage.filter(report)), checks],
            style: ReportPage.style, script: ReportPage.script)
    }

    private var names: [String] { report.stores.map(\.name) }

    private var introduction: [Block] {
        let failures = report.stores.reduce(0) { $0 + $1.results.count { $0.status.isFailure } }
        let verdict: RichText =
            !report.isComplete
            ? RichText("The run did not complete.", .bad)
            : failures > 0 ? RichText("\(counted(failures, "failure")).", .bad) : RichText("No failures.", .good)
        let scope = "\(counted(report.checks.count, "check")) over \(counted(names.count, report.subject))."
        let owner = report.settings.server == nil ? "store" : "server"
        return [.paragraph(verdict), .paragraph(RichText("\(scope) The promises of a \(owner) and the results."))]
    }

    /// Returns a table with a column for each store.
    private func table(_ caption: String, _ rows: [(RichText, (StoreReport) -> RichText)]) -> Block {
        .table(
            Table(
                caption, heading: [""] + names,
                rows: rows.map { title, cell in Table.Row([title] + report.stores.map(cell)) }, look: "overview"))
    }

    // MARK: The summary

    /// The profiles that each store reached and the number of checks by result.
    private var profiles: Block {
        let verdicts = (report.stores.first?.profiles.map(\.profile) ?? []).map { profile in
            (RichText(profile.title, .strong), { (store: StoreReport) in Self.verdict(store, profile) })
        }
        let totals = report.statuses(including: [.passed, .failed]).map { status in
            (RichText(status.title), { (store: StoreReport) in RichText(String(store.totals[status])) })
        }
        let time = (RichText("time"), { (store: StoreReport) in RichText(Words.seconds(store.seconds)) })
        guard !verdicts.isEmpty else { return .section("Results", [table("Results of the checks", totals + [time])]) }
        let caption = "Profiles that each store reaches, and the results of its checks"
        return .section("Profiles", [table(caption, verdicts + totals + [time])])
    }

    private static func verdict(_ store: StoreReport, _ profile: Profile) -> RichText {
        guard let verdict = store.profiles.first(where: { $0.profile == profile }) else { return "" }
        return switch verdict.outcome {
        case .reached: RichText("✓ \(verdict.words)", .good)
        case .open: RichText("○ \(verdict.words)", .open)
        case .missed: RichText("✗ \(verdict.words)", .bad)
        }
    }

    private var capabilities: [Block] {
        guard report.settings.server == nil else { return [] }
        let rows = DeclaredFact.all.map { fact in
            (
                RichText(fact.title),
                { (store: StoreReport) in RichText(store.capabilities.map(fact.text) ?? "not known") }
            )
        }
        return [.section("Declared capabilities", [table("Declared capabilities", rows)])]
    }

    private var passed: Block {
        let rows = report.groups.map { group in
            let checks = report.checks(of: group)
            let cell = { (store: StoreReport) in
                let passed = checks.count { store.result(of: $0)?.status == .passed }
                return RichText(passed == checks.count ? "all \(passed)" : "\(passed) of \(checks.count)")
            }
            return (RichText(group.title), cell)
        }
        return .section("Passed checks", [table("Passed checks", rows)])
    }

    // MARK: Checks with a problem

    /// The failures, with links to the details.
    private var failures: [Block] {
        results("Failures", shown: Self.shownFailures) { $0.isFailure || $0 == .knownFailure }
    }

    /// The deviations with which clients work.
    private var tolerated: [Block] { results("Tolerated deviations") { $0 == .tolerated } }

    /// Returns a section with the results of each store that have some statuses, collapsed if they are many.
    private func results(_ title: String, shown: Int = .max, where isListed: (CheckStatus) -> Bool) -> [Block] {
        let stores = report.stores.compactMap { store -> Block? in
            let items = store.results.filter { isListed($0.status) }.map(item)
            let summary: RichText = "\(store.name, .strong): \(counted(items.count, "check"))"
            return items.isEmpty ? nil : .details(summary, isOpen: items.count <= shown, [.list(items)])
        }
        return stores.isEmpty ? [] : [.section(title, stores)]
    }

    private func item(_ result: CheckResult) -> RichText {
        let finding = result.failure.map { failure in
            guard isPage else { return failure.message }
            let line = failure.message.prefix { !$0.isNewline }
            return line.count > 300 ? "\(line.prefix(300))…" : String(line)
        }
        let about = [result.reason, finding].compactMap { $0 }.joined(separator: ": ")
        let promise = report.check(result.id)?.promise ?? ""
        return "\(result.id, .code, link: result.id) \(result.status.text): \(promise). \(about, .faint)"
    }

    /// The checks that did not run, with reasons.
    private var omissions: [Block] {
        let omissions = Omission.all(of: report).flatMap { omission -> [Block] in
            let stores = omission.stores.joined(separator: ", ")
            let count = "\(counted(omission.ids.count, "check")) \(omission.status.title)"
            let links = omission.ids.map { id -> RichText in "\(id, link: id)" }.joined(separator: ", ")
            return [.details("\(stores, .strong), \(count): \(omission.reason)", [.paragraph(links)])]
        }
        return omissions.isEmpty ? [] : [.section("Checks not run", omissions)]
    }

    // MARK: All checks

    private var checks: Block {
        let legend = report.statuses().map { status -> RichText in
            "\(status.title, status.look, sign: status.sign): \(status.meaning)"
        }
        let groups = report.groups.map { group -> Block in
            let table = Table(
                group.title, heading: ["Check", "Promise"] + names, rows: report.checks(of: group).map(row), names: 2,
                look: "matrix")
            return .section(group.title, id: group.rawValue, [.table(table)])
        }
        return .section("Checks", id: "checks", [.list(legend)] + groups)
    }

    private func row(_ check: CheckSummary) -> Table.Row {
        let results = report.stores.map { ($0, $0.result(of: check)) }
        let cells = results.map { $1?.status.mark ?? "" }
        let needs = check.needs.map(\.title).joined(separator: ", ")
        let kind = check.tier.title + (needs.isEmpty ? "" : "; needs: \(needs)")
        let findings = results.flatMap { store, result in result.map { finding($0, of: store) } ?? [] }
        let explanation: [Block] = check.explanation.isEmpty ? [] : [.paragraph(RichText(check.explanation))]
        return Table.Row(
            ["\(check.id, .code)", RichText(check.promise)] + cells,
            expansion: Table.Expansion(
                id: check.id, tags: results.compactMap { $1?.status.rawValue }.uniqued(),
                explanation + [.paragraph(RichText(kind, .faint))] + findings))
    }

    private func finding(_ result: CheckResult, of store: StoreReport) -> [Block] {
        let seconds = result.seconds > 0 ? " \(Words.seconds(result.seconds))" : ""
        var blocks: [Block] = [.paragraph("\(store.name, .strong) \(result.status.mark)\(seconds, .small)")]
        if let reason = result.reason { blocks.append(.paragraph(RichText(reason))) }
        guard let failure = result.failure else { return blocks }
        let options = Words.options(result, store: store.name, report)
        blocks += [.code(failure.message), .paragraph("Repeat it with \(options, .code)")]
        if let script = failure.script {
            blocks.append(.details(report.settings.server == nil ? "Script" : "Requests", [.code(script)]))
        }
        return blocks
    }
}

extension ConformanceReport {
    /// The statuses that occur, and others to include anyway.
    func statuses(including others: Set<CheckStatus> = []) -> [CheckStatus] {
        CheckStatus.allCases.filter { status in
            others.contains(status) || stores.contains { $0.totals[status] > 0 }
        }
    }
}

extension CheckStatus {
    fileprivate var look: RichText.Look {
        switch self {
        case .passed: .good
        case .failed, .harnessError, .unexpectedPass: .bad
        case .knownFailure, .tolerated, .notRun: .open
        case .skipped: .faint
        }
    }

    /// A sign with a distinct shape and a word that narrow cells show only to screen readers.
    fileprivate var mark: RichText { "\(title, look, sign: sign)" }

    fileprivate var text: RichText { RichText(title, look) }
}
