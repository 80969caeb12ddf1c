internal import TidelineSupport

/// A side-by-side comparison of what the stores declare.
struct HTMLCapabilities {
    let stores: [StoreReport]

    var html: String {
        let rows = DeclaredFact.all.map { fact in
            let cells = stores.map { store in
                "<td>\(Escape.markup(store.capabilities.map(fact.text) ?? "not known"))</td>"
            }
            return "<tr><th scope=\"row\">\(fact.title)</th>\(cells.joined())</tr>"
        }
        return "<details class=\"card\">\n<summary>Declared capabilities</summary>\n"
            + HTMLFrame.table(
                caption: "Declared capabilities", heading: [""] + stores.map(\.name), rows: rows,
                className: "capabilities")
            + "\n</details>"
    }
}
