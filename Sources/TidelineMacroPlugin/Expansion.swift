#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacros

/// The result of the expansion of all macros in a source.
struct Expansion {
    /// The source with the expansion; the errors, each with its line and column, in the order of their lines; the
    /// source after all fix-its; the titles of the fix-its.
    let parts: [[String]]

    /// Expands the macros in a source.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - missing: The protocols to which the records do not conform.
    init(_ source: String, missing: [TypeSyntax]) {
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
        let text = String(expanded.description.drop { $0 == "\n" })

        func location(_ position: AbsolutePosition, _ node: some SyntaxProtocol) -> SourceLocation {
            context.location(for: position, anchoredAt: Syntax(node), fileName: "App.swift")
        }
        let errors = context.diagnostics.map { ($0, location($0.position, $0.node)) }
            .sorted { ($0.1.line, $0.1.column) < ($1.1.line, $1.1.column) }
            .map { "\($0.1.line):\($0.1.column) \($0.0.message)" }
        let fixIts = context.diagnostics.flatMap(\.fixIts)
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
        parts = [[text], errors, [String(decoding: bytes, as: UTF8.self)], fixIts.map(\.message.message)]
    }
}
#endif
