internal import TidelineStore

/// What each store declares, side by side.
struct HTMLCapabilities {
    let stores: [StoreReport]

    var html: String {
        let rows = facts.map { title, fact in
            let cells = stores.map { store in
                "<td>\(Escape.markup(store.capabilities.map(fact) ?? "not known"))</td>"
            }
            return "<tr><th scope=\"row\">\(title)</th>\(cells.joined())</tr>"
        }
        return "<details class=\"card\">\n<summary>What the stores declare</summary>\n"
            + HTML.table(
                caption: "Declared capabilities", heading: [""] + stores.map(\.name), rows: rows,
                className: "capabilities")
            + "\n</details>"
    }

    private var facts: [(String, (StoreCapabilities) -> String)] {
        [
            ("Adapter", \.name),
            ("Keeps rows when closed", { Self.answer($0.isPersistent) }),
            ("Durability", \.durability.rawValue),
            ("Files shared with processes", { Self.answer($0.sharesFilesWithProcesses) }),
            ("Readers leave writers free", { Self.answer($0.readersDoNotBlockWriters) }),
            ("Stores NaN", { Self.answer($0.storesNaN) }),
            ("Stores infinities", { Self.answer($0.storesInfinity) }),
            ("Notices flipped bits", { Self.answer($0.detectsBitFlips) }),
            ("Longest id", { "\($0.maximumIDLength)" }),
        ]
    }

    private static func answer(_ value: Bool) -> String { value ? "yes" : "no" }
}

/// What did not run, and why, for each store.
struct HTMLOmissions {
    let stores: [StoreReport]

    var html: String {
        let items = stores.flatMap { store in Omission.all(of: store).map { item($0, of: store) } }
        guard !items.isEmpty else { return "" }
        return "<section>\n<h2>What did not run</h2>\n<ul>\n\(items.joined(separator: "\n"))\n</ul>\n</section>"
    }

    private func item(_ omission: Omission, of store: StoreReport) -> String {
        let links = omission.ids.map { "<a href=\"#\(Escape.markup($0))\">\(Escape.markup($0))</a>" }
        return """
            <li><strong>\(Escape.markup(store.name))</strong>, \(Words.counted(omission.ids.count, "check")) \
            \(Words.title(omission.status)): \(Escape.markup(omission.reason))
            <details><summary>Which</summary><p>\(links.joined(separator: ", "))</p></details></li>
            """
    }
}
