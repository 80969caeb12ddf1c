#if Macros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import TidelineMacroExpansion

private struct TableMacro: TableExpansion {}
private struct MarkerMacro: MarkerExpansion {}

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

    /// Expands the macros in a source.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - missing: The protocols to which the records do not conform.
    init(_ source: String, missing: [TypeSyntax] = ["TableRecord", "MergingRecord"]) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(sourceFiles: [
            file: .init(moduleName: "App", fullFilePath: "App.swift")
        ])
        let markers = ["Column", "Index", "Merge", "References"].map { ($0, MacroSpec(type: MarkerMacro.self)) }
        let macros = ["Table": MacroSpec(type: TableMacro.self, conformances: missing)]
        let expanded = file.expand(
            macroSpecs: macros.merging(markers) { $1 },
            contextGenerator: {
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
            },
            indentationWidth: .spaces(4)
        )
        // The attributes of the macros leave an empty line.
        text = String(expanded.description.drop { $0 == "\n" })

        func location(_ position: AbsolutePosition, _ node: some SyntaxProtocol) -> SourceLocation {
            context.location(for: position, anchoredAt: Syntax(node), fileName: "App.swift")
        }
        errors = context.diagnostics.map { ($0, location($0.position, $0.node)) }
            .sorted { ($0.1.line, $0.1.column) < ($1.1.line, $1.1.column) }
            .map { "\($0.1.line):\($0.1.column) \($0.0.message)" }
        let fixIts = context.diagnostics.flatMap(\.fixIts)
        fixes = fixIts.map(\.message.message)
        var bytes = Array(source.utf8)
        let edits = fixIts.flatMap(\.changes).compactMap { change -> (Range<Int>, [UInt8])? in
            guard case .replace(let old, let new) = change else { return nil }
            return (
                location(old.position, old).offset..<location(old.endPosition, old).offset, Array(new.description.utf8)
            )
        }
        for (range, replacement) in edits.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
            bytes.replaceSubrange(range, with: replacement)
        }
        fixed = String(decoding: bytes, as: UTF8.self)
    }

    /// Expands a record with the given members, which begin in column 5 of line 4.
    ///
    /// - Parameter attribute: What precedes `@Table` on its line.
    init(ofNote members: String, attribute: String = "") {
        self.init(
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
