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
