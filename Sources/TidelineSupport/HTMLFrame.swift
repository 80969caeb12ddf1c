/// The frame of a report as a self-contained HTML page, and the elements that all pages share.
package enum HTMLFrame {
    /// Returns the beginning of the page, up to and including the start of the body.
    ///
    /// The page loads nothing and runs no scripts other than its own.
    /// - Parameters:
    ///   - style: The page's own style rules, which follow the shared rules.
    ///   - hasScript: Whether the page has a script.
    package static func head(title: String, style: String, hasScript: Bool) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; \(hasScript ? "script-src 'unsafe-inline'; " : "")\
        base-uri 'none'; form-action 'none'">
        <meta name="color-scheme" content="light dark">
        <title>\(Escape.markup(title))</title>
        <style>
        \(sharedStyle)
        \(style)
        </style>
        </head>
        <body>
        """
    }

    /// The end of the page.
    package static let end = "</body>\n</html>"

    /// Returns a table that scrolls horizontally if it is too wide for the page.
    /// - Parameter rows: The rows as HTML.
    package static func table(caption: String, heading: [String], rows: [String], className: String) -> String {
        let cells = heading.map { "<th scope=\"col\"><span>\(Escape.markup($0))</span></th>" }.joined()
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(Escape.markup(caption))">
            <table class="\(className)">
            <caption>\(Escape.markup(caption))</caption>
            <thead><tr>\(cells)</tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody>
            </table>
            </div>
            """
    }

    /// Returns a list of names and descriptions. Both are escaped.
    package static func list(_ facts: [(String, String)]) -> String {
        "<dl>\(facts.map { "<dt>\(Escape.markup($0))</dt><dd>\(Escape.markup($1))</dd>" }.joined())</dl>"
    }

    private static let sharedStyle = """
        :root {
          --paper: #ffffff; --ink: #1c2128; --faint: #57606a; --line: #d5dae0; --shade: #f4f6f8;
          --good: #116329; --bad: #b3141d; --open: #7a4d00; --link: #0a52b8;
          --good-shade: #e2f5e7; --bad-shade: #ffe5e5; --open-shade: #fff3d1;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #14181d; --ink: #e3e8ee; --faint: #9aa5b1; --line: #343c46; --shade: #1d232a;
            --good: #6bd18a; --bad: #ff8f8a; --open: #e6b450; --link: #7fb5ff;
            --good-shade: #16301f; --bad-shade: #43191c; --open-shade: #382c12;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 1rem; max-width: 76rem; background: var(--paper); color: var(--ink);
          font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
          overflow-wrap: break-word;
        }
        h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; overflow-wrap: anywhere; }
        h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
        h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
        h4 { font-size: .95rem; margin: .8rem 0 .2rem; }
        small, .kind, dt { color: var(--faint); font-weight: normal; }
        a { color: var(--link); }
        header p { margin: .3rem 0; }
        .good { color: var(--good); font-weight: 600; }
        .bad { color: var(--bad); font-weight: 600; }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
        table { border-collapse: collapse; width: 100%; font-size: .93rem; }
        caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        th, td { padding: .4rem .55rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
        thead th { border-top: 0; background: var(--shade); overflow-wrap: anywhere; vertical-align: bottom; }
        tbody th { font-weight: normal; }
        summary { cursor: pointer; border-radius: 4px; }
        summary:focus-visible, .scroll:focus-visible, input:focus-visible, select:focus-visible, a:focus-visible {
          outline: 2px solid var(--link); outline-offset: 2px;
        }
        code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
        code { font-size: .88em; }
        pre {
          margin: .4rem 0; padding: .6rem .7rem; background: var(--paper); border: 1px solid var(--line);
          border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .82rem; line-height: 1.4;
        }
        .plain { list-style: none; padding: 0; }
        .plain li { margin: .5rem 0; }
        .plain p { margin: 0; overflow-wrap: anywhere; }
        .legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; font-size: .9rem; }
        footer { margin-top: 2rem; border-top: 1px solid var(--line); font-size: .9rem; }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; }
        dd { margin: 0; }
        @media (max-width: 46rem) {
          body { padding: .8rem; }
          th, td { padding: .35rem .35rem; }
        }
        """
}
