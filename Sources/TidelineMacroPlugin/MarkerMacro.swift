#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// The implementation of the macros that mark properties for `@Table`: `@Column`, `@Index`, `@Merge`, and
/// `@References`.
struct MarkerMacro: PeerMacro {
    /// Checks that the marker is attached to a property that becomes a column. Adds nothing.
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let record = context.lexicalContext.first?.as(StructDeclSyntax.self)
        let name = node.attributeName.trimmedDescription.lastName
        var problems = Problems()
        if record?.attributes.named("Table").isEmpty != false {
            problems.add("@\(name) can only be attached to a property of a struct with @Table", at: node)
        } else if declaration.as(VariableDeclSyntax.self)?.isStoredInstanceProperty != true {
            problems.add("@\(name) can only be attached to a stored property", at: node)
        } else if declaration.as(VariableDeclSyntax.self)?.bindings.first?.pattern.trimmedDescription == "id" {
            problems.add("@\(name) has no effect on id", at: node)
        }
        for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
        return []
    }
}
#endif
