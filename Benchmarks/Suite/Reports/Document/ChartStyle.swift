#if Commands
internal import TidelineSupport

/// The colors of the subjects in all charts of a page.
struct HTMLPalette {
    /// The number of colors, which repeat for more subjects.
    static let count = 8

    private let positions: [String: Int]

    init(_ subjects: [SubjectDescription]) {
        let ordered = subjects.filter { $0.kind != .baseline } + subjects.filter { $0.kind == .baseline }
        positions = Dictionary(
            ordered.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The CSS class with the subject's color.
    func className(_ subject: SubjectDescription) -> String { "s\((positions[subject.name] ?? 0) % Self.count)" }

    /// The legend of a chart.
    func key(_ subjects: [SubjectDescription]) -> String {
        let items = subjects.map { subject in
            "<li><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">"
                + "<rect class=\"\(className(subject))\" width=\"10\" height=\"10\" rx=\"2\"></rect></svg> "
                + "\(Escape.markup(subject.name))</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}

/// The style rules of the benchmark's page, in addition to the shared ones.
enum ChartStyle {
    /// The colors remain distinguishable with common color blindness (Okabe and Ito), adjusted to the background.
    static let text = """
        :root {
          --s0: #0072b2; --s1: #d55e00; --s2: #009e73; --s3: #b3628f; --s4: #b08000; --s5: #3a9bd0; --s6: #6b6b6b;
          --s7: #7a4b2a;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --s0: #4aa8e0; --s1: #f08a4b; --s2: #33c49a; --s3: #dd94bd; --s4: #e0b040; --s5: #8fd0f5; --s6: #a8a8a8;
            --s7: #c99b78;
          }
        }
        tbody th { min-width: 11rem; }
        .work table { font-size: .75rem; }
        .work th, .work td { padding: .25rem .3rem; }
        .work tbody th { min-width: 0; }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: .8rem; }
        .cards { margin-top: .8rem; align-items: start; }
        .work { min-width: 0; padding: .6rem .8rem .8rem; border: 1px solid var(--line); border-radius: 8px; }
        .work h4 { margin: 0; }
        .work p { margin: .2rem 0 .5rem; font-size: .82rem; }
        .work .survival { margin: .5rem 0 .15rem; color: var(--faint); }
        .work .legend { margin: .3rem 0 .6rem; font-size: .8rem; }
        .work summary { font-size: .85rem; color: var(--link); }
        svg { display: block; width: 100%; height: auto; }
        svg.swatch { display: inline-block; width: .7rem; height: .7rem; }
        svg text { font-size: 11px; fill: var(--ink); font-variant-numeric: tabular-nums; }
        svg text.end { text-anchor: end; }
        svg text.middle { text-anchor: middle; }
        svg text.best { font-weight: 700; }
        .lines text { font-size: 10px; fill: var(--faint); }
        .bare { stroke: var(--ink); stroke-width: 2; }
        .rule { stroke: var(--line); stroke-width: 1; }
        \((0..<HTMLPalette.count).map { ".s\($0) { fill: var(--s\($0)); stroke: var(--s\($0)); }" }.joined(separator: "\n"))
        svg rect[class] { stroke: none; }
        .lines polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
        @media (max-width: 46rem) {
          table { font-size: .82rem; }
          tbody th { min-width: 8rem; }
        }
        """
}
#endif
