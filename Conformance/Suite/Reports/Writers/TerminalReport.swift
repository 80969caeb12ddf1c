package import TidelineSupport

/// The end of a run for a terminal: failures with all details, the checks that did not run with reasons, and a summary.
package struct TerminalReport: Sendable {
    /// The maximum number of lines shown of the end of a script; the other formats contain all of it.
    private static let scriptLines = 40
    /// The maximum number of characters shown of a line, which may contain a long value.
    private static let lineLength = 1_000

    /// The command that ran the suite; `nil` omits the instructions to repeat a check.
    package var command: String?
    /// Whether and how the text is colored.
    package var style: TerminalStyle
    /// Whether skipped checks and checks that did not run are omitted.
    package var isQuiet: Bool
    /// Whether checks that were skipped, tolerated, not run, or known to fail count as failures.
    package var isStrict: Bool

    /// Creates a writer.
    package init(
        command: String? = nil, style: TerminalStyle = TerminalStyle(isColored: false), isQuiet: Bool = false,
        isStrict: Bool = false
    ) {
        self.isStrict = isStrict
        self.command = command
        self.style = style
        self.isQuiet = isQuiet
    }

    package func text(of report: ConformanceReport) -> String {
        var parts = report.stores.flatMap { store in failures(of: store, report) }
        let known = deviations(report)
        if !isQuiet, !known.isEmpty { parts.append(known.joined(separator: "\n")) }
        let omitted = omissions(report)
        if !isQuiet, !omitted.isEmpty { parts.append(omitted.joined(separator: "\n")) }
        parts.append(summary(report))
        parts.append(verdict(report))
        return parts.joined(separator: "\n\n") + "\n"
    }

    // MARK: Failures

    private func failures(of store: StoreReport, _ report: ConformanceReport) -> [String] {
        store.results.filter(\.status.isFailure).map { failure($0, of: store, report) }
    }

    private func failure(_ result: CheckResult, of store: StoreReport, _ report: ConformanceReport) -> String {
        let title = style.bad(result.status.title.uppercased())
        let promise = report.check(result.id)?.promise ?? ""
        var lines = ["\(title)  \(Escape.line(store.name))  \(style.strong(Escape.line("\(result.id)  \(promise)")))"]
        if result.status == .unexpectedPass {
            lines.append("    The promise holds but is listed as a known failure: \(Escape.line(result.reason ?? ""))")
        }
        if let failure = result.failure { lines += indented(failure.message, by: 4) }
        if let command {
            lines.append("    repeat: \(command) \(Words.options(result, store: store.name, report))")
        }
        if let script = result.failure?.script { lines += [""] + self.script(script) }
        return lines.joined(separator: "\n")
    }

    private func script(_ text: String) -> [String] {
        let lines = indented(text, by: 8)
        guard lines.count > Self.scriptLines + 1 else { return lines.map(style.faint) }
        let rest = "        … \(lines.count - Self.scriptLines) earlier lines; a report in JSON or HTML contains them"
        return [rest] + lines.suffix(Self.scriptLines).map(style.faint)
    }

    private func indented(_ text: String, by count: Int) -> [String] {
        let blanks = String(repeating: " ", count: count)
        return Escape.terminal(text).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : blanks + Self.shortened($0) }
    }

    /// Cuts a long line.
    private static func shortened(_ line: Substring) -> String {
        guard line.count > lineLength + 100 else { return String(line) }
        let rest = "\(line.count - lineLength) more characters; a report in JSON or HTML contains them"
        return "\(line.prefix(lineLength))… (\(rest))"
    }

    // MARK: Checks not run

    private func deviations(_ report: ConformanceReport) -> [String] {
        report.stores.flatMap { store in
            store.results.filter { [.knownFailure, .tolerated].contains($0.status) }.map { result in
                let title = style.open(result.status.title)
                return "\(title)  \(Escape.line("\(store.name)  \(result.id)  \(result.reason ?? "")"))"
            }
        }
    }

    /// Returns a line for each reason, with the number of checks and the first of them.
    private func omissions(_ report: ConformanceReport) -> [String] {
        let rows = Omission.all(of: report).map { omission in
            [omission.status.title, "\(omission.ids.count)", omission.stores.joined(separator: ", ")]
                + ["\(omission.reason) (\(Self.listed(omission.ids)))"]
        }
        return TextTable(rows: rows.map { $0.map(Escape.line) }, numbers: [1]).lines
    }

    private static func listed(_ ids: [String]) -> String {
        ids.count > 3 ? "\(ids[0]) … \(ids[ids.count - 1])" : ids.joined(separator: ", ")
    }

    // MARK: The summary

    private func summary(_ report: ConformanceReport) -> String {
        let statuses = report.statuses(including: [.passed, .failed])
        let profiles = report.stores.first?.profiles.map(\.profile.title) ?? []
        let heading = [report.subject] + statuses.map(\.title) + ["time"] + profiles
        let rows = report.stores.map { store in
            [Escape.line(store.name)] + statuses.map { "\(store.totals[$0])" } + [Words.seconds(store.seconds)]
                + store.profiles.map(\.words)
        }
        var lines = TextTable(rows: [heading] + rows, numbers: Set(1...statuses.count + 1)).lines
        lines[0] = style.strong(lines[0])
        return lines.joined(separator: "\n")
    }

    private func verdict(_ report: ConformanceReport) -> String {
        let failures = report.stores.reduce(0) { $0 + $1.results.count { $0.status.isFailure } }
        let checks = counted(report.checks.count, "check")
        let over = report.stores.count == 1 ? "" : " over \(report.stores.count) \(report.subject)s"
        if !report.isComplete { return style.open("The run did not complete.") }
        guard failures == 0 else { return style.bad("\(counted(failures, "failure")) in \(checks)\(over).") }
        let strict = report.strictFailures
        guard !isStrict || strict == 0 else {
            return style.bad("No failures in \(checks)\(over), but \(strict) did not pass, as --strict requires.")
        }
        let rest = report.stores.contains { $0.totals.notRun > 0 } ? "; not all of them ran." : "."
        return style.good("No failures") + " in \(checks)\(over)\(rest)"
    }
}
