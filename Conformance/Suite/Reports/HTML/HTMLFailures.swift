internal import TidelineSupport

/// The failures, shown at the top of the page, with links to the details.
struct HTMLFailures {
    let report: ConformanceReport

    /// A store with more failures than this has them collapsed.
    private static let shown = 12

    var html: String {
        let stores = report.stores.compactMap(failures)
        return stores.isEmpty ? "" : "<section>\n<h2>Failures</h2>\n\(stores.joined(separator: "\n"))\n</section>"
    }

    private func failures(of store: StoreReport) -> String? {
        let items = store.results.filter { $0.status.isFailure || $0.status == .knownFailure }.map(item)
        guard !items.isEmpty else { return nil }
        return """
            <details class="card"\(items.count > Self.shown ? "" : " open")>
            <summary><strong>\(Escape.markup(store.name))</strong>: \(Words.counted(items.count, "check"))</summary>
            <ul class="plain">
            \(items.joined(separator: "\n"))
            </ul>
            </details>
            """
    }

    private func item(_ result: CheckResult) -> String {
        let id = Escape.markup(result.id)
        let about = [result.reason, result.failure.map { Self.firstLine($0.message) }].compactMap { $0 }
        return """
            <li>\(HTML.status(result.status)) <a href="#\(id)"><code>\(id)</code></a> \
            \(Escape.markup(report.check(result.id)?.promise ?? "")) \
            <p class="kind">\(Escape.markup(about.joined(separator: ": ")))</p></li>
            """
    }

    private static func firstLine(_ text: String) -> String {
        let line = text.prefix { !$0.isNewline }
        return line.count > 300 ? "\(line.prefix(300))…" : String(line)
    }
}
