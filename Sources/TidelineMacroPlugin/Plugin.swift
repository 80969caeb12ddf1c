#if Macros
internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

/// The program that the compiler starts to expand the macros of `TidelineMacros`.
///
/// With arguments, it prints how it expands the source that is the first one, for records that do not conform to the
/// protocols named by the others. Tests use this: one that linked swift-syntax would have it compiled twice.
@main
enum Program {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let source = arguments.first else { return try TidelineMacroPlugin.main() }
        let expansion = Expansion(source, missing: arguments.dropFirst().map { "\(raw: $0)" })
        print(expansion.parts.map { $0.joined(separator: "\u{1E}") }.joined(separator: "\u{1F}"), terminator: "")
    }
}

private struct TidelineMacroPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [TableMacro.self, MarkerMacro.self]
}
#else
// Without the trait, nothing starts this program.
@main
enum Program {
    static func main() {}
}
#endif
