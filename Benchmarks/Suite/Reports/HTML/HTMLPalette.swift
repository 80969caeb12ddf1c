internal import TidelineSupport

/// The colours of subjects, the same in every chart of a page, and the pieces of HTML that name them.
struct HTMLPalette {
    /// How many colours there are; with more subjects they begin again.
    static let count = 8

    private let places: [String: Int]

    init(_ subjects: [SubjectDescription]) {
        let ordered = subjects.filter { $0.kind != .baseline } + subjects.filter { $0.kind == .baseline }
        places = Dictionary(
            ordered.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The class that gives a shape the subject's colour.
    func className(_ subject: SubjectDescription) -> String { "s\((places[subject.name] ?? 0) % Self.count)" }

    /// A key to the colours of a chart.
    func key(_ subjects: [SubjectDescription]) -> String {
        let items = subjects.map { subject in
            "<li><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">"
                + "<rect class=\"\(className(subject))\" width=\"10\" height=\"10\" rx=\"2\"></rect></svg> "
                + "\(Escape.markup(subject.name))</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}
