internal import TidelineSupport

/// The frame of the page: its head with styles, and its end with the script.
enum HTMLPage {
    /// Everything up to and with the start of the body. Nothing is loaded from anywhere.
    static func head(title: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; \
        form-action 'none'">
        <meta name="color-scheme" content="light dark">
        <title>\(Escape.markup(title))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        """
    }

    /// Everything from the script on.
    static let end = """
        <script>
        \(script)
        </script>
        </body>
        </html>
        """

    private static let style = """
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
        .card { margin: 1rem 0; }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
        table { border-collapse: collapse; width: 100%; font-size: .93rem; }
        caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        th, td { padding: .4rem .55rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
        thead th { border-top: 0; background: var(--shade); overflow-wrap: anywhere; vertical-align: bottom; }
        tbody th { font-weight: normal; }
        .overview th[scope=row], .overview thead th { font-weight: 600; }
        .number th[scope=row] { font-weight: normal; }
        .number td { font-variant-numeric: tabular-nums; }
        .verdict, .status { white-space: nowrap; }
        .verdict { display: inline-block; padding: .05rem .45rem; border-radius: 6px; font-weight: 600; }
        .reached { color: var(--good); background: var(--good-shade); }
        .missed { color: var(--bad); background: var(--bad-shade); }
        .open { color: var(--open); background: var(--open-shade); }
        .passed { color: var(--good); }
        .failed, .kitError, .unexpectedPass { color: var(--bad); font-weight: 600; }
        .knownFailure, .notRun { color: var(--open); }
        .skipped { color: var(--faint); }
        .matrix { table-layout: fixed; }
        .matrix thead th:not(:first-child), .matrix tr.check td { width: 8.5rem; }
        summary { cursor: pointer; border-radius: 4px; }
        summary:focus-visible, .scroll:focus-visible, input:focus-visible, select:focus-visible, a:focus-visible {
          outline: 2px solid var(--link); outline-offset: 2px;
        }
        code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
        code { font-size: .88em; }
        summary code { white-space: nowrap; }
        .more code { overflow-wrap: anywhere; }
        .check:target th { background: var(--open-shade); }
        .more { display: none; }
        .check:has(details[open]) + .more { display: table-row; }
        @supports not selector(:has(*)) { .more { display: table-row; } }
        tr[hidden], .check[hidden] + .more, .check[hidden]:has(details[open]) + .more { display: none; }
        .more > td { background: var(--shade); border-top: 0; padding: .3rem 1rem 1rem; }
        .more p { margin: .4rem 0; }
        pre {
          margin: .4rem 0; padding: .6rem .7rem; background: var(--paper); border: 1px solid var(--line);
          border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .82rem; line-height: 1.4;
        }
        .plain { list-style: none; padding: 0; }
        .plain li { margin: .5rem 0; }
        .plain p { margin: 0; overflow-wrap: anywhere; }
        .legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; font-size: .9rem; }
        form:not([hidden]) {
          display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; margin: 1.5rem 0 0; padding: .7rem;
          background: var(--shade); border: 1px solid var(--line); border-radius: 8px;
        }
        label { display: grid; gap: .15rem; font-size: .85rem; color: var(--faint); flex: 1 1 9rem; min-width: 0; }
        input, select {
          font: inherit; font-size: 1rem; color: var(--ink); background: var(--paper); border: 1px solid var(--faint);
          border-radius: 6px; padding: .35rem .5rem; width: 100%; min-width: 0;
        }
        output { flex: 1 0 100%; font-size: .85rem; color: var(--faint); }
        footer { margin-top: 2rem; border-top: 1px solid var(--line); font-size: .9rem; }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; }
        dd { margin: 0; }
        @media (max-width: 46rem) {
          body { padding: .8rem; }
          th, td { padding: .35rem .35rem; }
          .matrix thead th:not(:first-child), .matrix tr.check td { width: 2.35rem; text-align: center; }
          .matrix thead th:not(:first-child) span {
            writing-mode: vertical-rl; transform: rotate(180deg); max-height: 9rem; overflow-wrap: anywhere;
          }
          .matrix .check .words {
            position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
          }
          .overview, .capabilities { font-size: .8rem; table-layout: fixed; }
          .overview thead th:first-child, .capabilities thead th:first-child { width: 24%; }
          .overview th, .overview td, .capabilities th, .capabilities td { padding: .3rem .25rem; overflow-wrap: anywhere; }
          .overview th, .overview td { font-size: .75rem; }
          .verdict { white-space: normal; padding: 0 .2rem; overflow-wrap: normal; }
          .more > td { padding: .3rem .5rem .8rem; }
        }
        """

    private static let script = """
        "use strict";
        (() => {
          const form = document.getElementById("filter");
          const sections = [...document.querySelectorAll("section.group")].map(section => ({
            section,
            rows: [...section.querySelectorAll("tr.check")].map(row => ({
              row,
              statuses: row.dataset.status.split(" "),
              text: (row.textContent + " " + row.nextElementSibling.textContent).toLowerCase(),
            })),
          }));
          const total = sections.reduce((sum, { rows }) => sum + rows.length, 0);
          const narrow = () => {
            const text = form.elements.text.value.trim().toLowerCase();
            const group = form.elements.group.value;
            const status = form.elements.status.value;
            let shown = 0;
            for (const { section, rows } of sections) {
              let inSection = 0;
              for (const { row, statuses, text: content } of rows) {
                const fits = (!group || section.dataset.group === group)
                  && (!status || (status === "differs" ? statuses.length > 1 : statuses.includes(status)))
                  && content.includes(text);
                row.hidden = !fits;
                if (fits) inSection += 1;
              }
              section.hidden = inSection === 0;
              shown += inSection;
            }
            form.elements.count.value = shown === total ? `${total} checks` : `${shown} of ${total} checks`;
          };
          form.addEventListener("input", narrow);
          form.addEventListener("submit", event => event.preventDefault());
          // A link to a check opens it, and shows it even where the filter does not.
          const show = () => {
            const row = document.getElementById(location.hash.slice(1));
            if (!row || !row.matches("tr.check")) return;
            if (row.hidden) { form.reset(); narrow(); }
            row.querySelector("details").open = true;
            row.scrollIntoView();
          };
          window.addEventListener("hashchange", show);
          form.hidden = false;
          narrow();
          show();
        })();
        """
}
