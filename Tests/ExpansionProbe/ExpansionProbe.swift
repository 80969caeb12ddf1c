#if Macros
internal import Foundation
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacros
internal import TidelineMacroExpansion

/// Expands the macros in the source that is its first argument, for records that do not conform to the protocols named
/// by the others, and prints the result as JSON.
///
/// It is a macro program, so that swift-syntax is compiled only once, for the macros.
@main
enum ExpansionProbe {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let expansion = Expansion(arguments.first ?? "", missing: arguments.dropFirst().map { "\(raw: $0)" })
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(expansion))
    }
}

private struct TableMacro: TableExpansion {}
private struct MarkerMacro: MarkerExpansion {}

/// The result of the expansion of all macros in a source.
private struct Expansion: Encodable {
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
}
#else
// Without the trait, no test starts this program.
@main
enum ExpansionProbe {
    static func main() {}
}
#endif
