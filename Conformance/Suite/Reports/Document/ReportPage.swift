internal import TidelineSupport

/// The parts of the HTML page that Markdown does not have: the style, the filter, and its script.
enum ReportPage {
    static let style = """
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
          .overview { font-size: .8rem; table-layout: fixed; }
          .overview thead th:first-child { width: 24%; }
          .overview th, .overview td { padding: .3rem .25rem; overflow-wrap: anywhere; font-size: .75rem; }
          .more > td { padding: .3rem .5rem .8rem; }
        }
        """

    /// The form that filters the checks, shown only if scripts run.
    static func filter(_ report: ConformanceReport) -> String {
        let groups = report.groups.map { "<option value=\"\($0.rawValue)\">\($0.title)</option>" }
        let statuses = report.statuses().map { "<option value=\"\($0.rawValue)\">\($0.title)</option>" }
        return """
            <form id="filter" hidden aria-label="Filter the checks">
            <label>Text <input type="search" name="text" placeholder="id, promise, message"></label>
            <label>Group <select name="group"><option value="">all</option>\(groups.joined())</select></label>
            <label>Status <select name="status"><option value="">all</option>\
            <option value="differs">differs between stores</option>\(statuses.joined())</select></label>
            <output name="count" aria-live="polite"></output>
            </form>
            """
    }

    static let script = """
        "use strict";
        (() => {
          const form = document.getElementById("filter");
          const sections = [...document.querySelectorAll("#checks > section")].map(section => ({
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
                const fits = (!group || section.id === group)
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
