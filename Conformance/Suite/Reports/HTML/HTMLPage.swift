internal import TidelineSupport

/// The frame of the page: the head with styles and the end with the script.
enum HTMLPage {
    /// Everything up to and including the start of the body.
    static func head(title: String) -> String { HTMLFrame.head(title: title, style: style, hasScript: true) }

    /// Everything from the script on.
    static let end = """
        <script>
        \(script)
        </script>
        \(HTMLFrame.end)
        """

    private static let style = """
        .card { margin: 1rem 0; }
        .overview th[scope=row], .overview thead th { font-weight: 600; }
        .number th[scope=row] { font-weight: normal; }
        .number td { font-variant-numeric: tabular-nums; }
        .verdict, .status { white-space: nowrap; }
        .verdict { display: inline-block; padding: .05rem .45rem; border-radius: 6px; font-weight: 600; }
        .reached { color: var(--good); background: var(--good-shade); }
        .missed { color: var(--bad); background: var(--bad-shade); }
        .open { color: var(--open); background: var(--open-shade); }
        .passed { color: var(--good); }
        .failed, .harnessError, .unexpectedPass { color: var(--bad); font-weight: 600; }
        .knownFailure, .notRun { color: var(--open); }
        .skipped { color: var(--faint); }
        .matrix { table-layout: fixed; }
        .matrix thead th:not(:first-child), .matrix tr.check td { width: 8.5rem; }
        summary code { white-space: nowrap; }
        .more code { overflow-wrap: anywhere; }
        .check:target th { background: var(--open-shade); }
        .more { display: none; }
        .check:has(details[open]) + .more { display: table-row; }
        @supports not selector(:has(*)) { .more { display: table-row; } }
        tr[hidden], .check[hidden] + .more, .check[hidden]:has(details[open]) + .more { display: none; }
        .more > td { background: var(--shade); border-top: 0; padding: .3rem 1rem 1rem; }
        .more p { margin: .4rem 0; }
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
        @media (max-width: 46rem) {
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
          // A link to a check expands it and shows it even if the filter hides it.
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
