#if Macros
import Testing
import TidelineTestSupport

/// The result of the expansion of all macros in a source.
struct Expansion {
    /// The source with the expansion.
    let text: String
    /// The errors, each with its line and column, in the order of their lines.
    let errors: [String]
    /// The source after all fix-its.
    let fixed: String
    /// The titles of the fix-its.
    let fixes: [String]

    /// Expands the macros in a source. Its records do not conform to the missing protocols.
    init(_ source: String, missing: [String] = ["TableRecord", "MergingRecord"]) throws {
        let output = try ProbeProcess("TidelineMacroPlugin-tool").run([source] + missing)
        try #require(output.status == 0, "\(output.err)")
        let parts = output.out.split(separator: "\u{1F}", omittingEmptySubsequences: false)
            .map { $0.split(separator: "\u{1E}").map(String.init) }
        try #require(parts.count == 4)
        (text, errors, fixed, fixes) = (parts[0].joined(), parts[1], parts[2].joined(), parts[3])
    }

    /// Expands a record with the given members, which begin in column 5 of line 4. The attribute precedes `@Table`.
    init(ofNote members: String, attribute: String = "") throws {
        try self.init(
            """
            \(attribute)@Table("Note")
            struct Note: Identifiable, Sendable {
                var id: ID<Note> = .new
                \(members)
            }
            """)
    }

    /// The lines of ``text`` without their indentation.
    var lines: [Substring] { text.split(separator: "\n").map { $0.drop { $0 == " " } } }
}
#endif
