internal import TidelineSupport

/// A report as Markdown: the profiles that each store reaches, and a table of checks by stores for each group.
package struct MarkdownReport: ReportWriter {
    /// Creates a writer.
    package init() {}

    package func text(of report: ConformanceReport) -> String {
        var parts = ["# Conformance", verdicts(report), totals(report), run(report)]
        parts += ["## Declared capabilities", declarations(report), "## Passed checks", groups(report)]
        let notes = notes(report)
        if !notes.isEmpty { parts += ["## Failures", notes.joined(separator: "\n")] }
        let omissions = omissions(report)
        if !omissions.isEmpty { parts += ["## Checks not run", omissions.joined(separator: "\n")] }
        parts += ["## Checks", legend(report)]
        for group in report.groups {
            parts.append("### \(group.title)")
            parts.append(matrix(report.checks(of: group), report))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func declarations(_ report: ConformanceReport) -> String {
        MarkdownTable(
            heading: [""] + report.stores.map(\.name),
            rows: DeclaredFact.all.map { fact in
                [fact.title] + report.stores.map { $0.capabilities.map(fact.text) ?? "not known" }
            }
        ).text
    }

    private func groups(_ report: ConformanceReport) -> String {
        MarkdownTable(
            heading: ["Checks passed"] + report.stores.map(\.name),
            rows: report.groups.map { group in
                let checks = report.checks(of: group)
                return [group.title]
                    + report.stores.map { store in
                        let passed = checks.count { store.result(of: $0)?.status == .passed }
                        return passed == checks.count ? "all \(passed)" : "\(passed) of \(checks.count)"
                    }
            }
        ).text
    }

    private func verdicts(_ report: ConformanceReport) -> String {
        MarkdownTable(
            heading: ["Store"] + Profile.allCases.map(\.title),
            rows: report.stores.map { store in [store.name] + store.profiles.map(\.words) }
        ).text
    }

    private func totals(_ report: ConformanceReport) -> String {
        let statuses = CheckStatus.allCases.filter { status in report.stores.contains { $0.totals[status] > 0 } }
        return MarkdownTable(
            heading: ["Store"] + statuses.map { "\(Words.sign($0)) \(Words.title($0))" } + ["time"],
            rows: report.stores.map { store in
                [store.name] + statuses.map { "\(store.totals[$0])" } + [Words.seconds(store.seconds)]
            }
        ).text
    }

    private func run(_ report: ConformanceReport) -> String {
        let facts = Words.run(report).map { "\($0): \(Escape.markdown($1))" }.joined(separator: " · ")
        return report.isComplete ? facts : "The run did not complete. " + facts
    }

    private func legend(_ report: ConformanceReport) -> String {
        CheckStatus.allCases.filter { status in report.stores.contains { $0.totals[status] > 0 } }
            .map { "\(Words.sign($0)) \(Words.meaning($0))" }.joined(separator: " · ")
    }

    private func matrix(_ checks: [CheckSummary], _ report: ConformanceReport) -> String {
        MarkdownTable(
            heading: ["Check", "Promise"] + report.stores.map(\.name),
            rows: checks.map { check in
                [check.id, check.promise]
                    + report.stores.map { store in store.result(of: check).map { Words.sign($0.status) } ?? "" }
            }
        ).text
    }

    private func notes(_ report: ConformanceReport) -> [String] {
        report.stores.flatMap { store in
            store.results.filter { $0.failure != nil || $0.status == .unexpectedPass }.map { result in
                let about = [result.reason, result.failure?.message].compactMap { $0 }.joined(separator: ": ")
                return "- \(Escape.markdown("\(store.name) \(result.id)")), \(Words.title(result.status)): "
                    + Escape.markdown(about)
            }
        }
    }

    private func omissions(_ report: ConformanceReport) -> [String] {
        Omission.all(of: report).map { omission in
            "- \(Escape.markdown(omission.stores.joined(separator: ", "))), \(Words.title(omission.status)): "
                + Escape.markdown("\(omission.reason) (\(omission.ids.joined(separator: ", ")))")
        }
    }
}

/// Lists checks as Markdown for documentation.
package struct MarkdownCheckList: Sendable {
    /// Creates a writer.
    package init() {}

    /// Returns a heading and a table for each group of the checks.
    package func text(of checks: [Check]) -> String {
        let groups = CheckGroup.allCases.map { group in (group, checks.filter { $0.group == group }) }
        let parts = groups.filter { !$0.1.isEmpty }.map { group, checks in
            let table = MarkdownTable(
                heading: ["Check", "Promise", "Kind", "Needs"],
                rows: checks.map { check in
                    [check.id, check.promise, Words.title(check.tier)]
                        + [check.needs.map(Words.title).joined(separator: ", ")]
                })
            return "## \(group.title)\n\n\(table.text)"
        }
        return parts.joined(separator: "\n\n") + "\n"
    }
}
