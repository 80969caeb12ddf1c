/// What failed, at the top of the page, with the way to all that is known of it.
struct HTMLFailures {
    let report: ConformanceReport

    var html: String {
        let items = report.stores.flatMap { store in
            store.results.filter { $0.status.isFailure || $0.status == .knownFailure }.map { item($0, of: store) }
        }
        guard !items.isEmpty else { return "" }
        return
            "<section>\n<h2>What failed</h2>\n<ul class=\"plain\">\n\(items.joined(separator: "\n"))\n</ul>\n</section>"
    }

    private func item(_ result: CheckResult, of store: StoreReport) -> String {
        let id = Escape.markup(result.id)
        let about = [result.reason, result.failure.map { Self.firstLine($0.message) }].compactMap { $0 }
        return """
            <li><strong>\(Escape.markup(store.name))</strong> \(HTML.status(result.status)): \
            <a href="#\(id)"><code>\(id)</code></a> \(Escape.markup(report.check(result.id)?.promise ?? "")) \
            <p class="kind">\(Escape.markup(about.joined(separator: ": ")))</p></li>
            """
    }

    private static func firstLine(_ text: String) -> String {
        let line = text.prefix { !$0.isNewline }
        return line.count > 300 ? "\(line.prefix(300))…" : String(line)
    }
}
