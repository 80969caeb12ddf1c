#if Macros
internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros
internal import TidelineMacroExpansion

/// The program that the compiler starts to expand the macros of `TidelineMacros`.
@main
struct TidelineMacroPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [TableMacro.self, MarkerMacro.self]
}

struct TableMacro: TableExpansion {}

struct MarkerMacro: MarkerExpansion {}
#else
// Without the trait, nothing starts this program.
@main
enum TidelineMacroPlugin {
    static func main() {}
}
#endif
