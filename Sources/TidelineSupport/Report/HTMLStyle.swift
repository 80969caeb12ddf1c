/// The style rules of all pages.
enum HTMLStyle {
    /// The rules, for a light or dark background and any width.
    static let shared = """
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
        .warning {
          padding: .5rem .8rem; border-radius: 6px; color: var(--bad); background: var(--bad-shade); font-weight: 600;
        }
        .faint { color: var(--faint); }
        .open { color: var(--open); }
        .good { color: var(--good); font-weight: 600; }
        .bad { color: var(--bad); font-weight: 600; }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
        table { border-collapse: collapse; width: 100%; font-size: .93rem; font-variant-numeric: tabular-nums; }
        caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        th, td { padding: .4rem .55rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
        thead th { border-top: 0; background: var(--shade); overflow-wrap: anywhere; vertical-align: bottom; }
        tbody th { font-weight: normal; }
        .number { text-align: right; white-space: nowrap; }
        main > section > details, main > details { margin: 1rem 0; }
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
        ul { padding-left: 1.2rem; }
        li { margin: .2rem 0; overflow-wrap: anywhere; }
        .legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; font-size: .9rem; }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; }
        dd { margin: 0; }
        @media (max-width: 46rem) {
          body { padding: .8rem; }
          th, td { padding: .35rem .35rem; }
        }
        """
}
