#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// The implementation of `@Table`. The compiler looks for a macro in the module of the plug-in, whose type conforms.
///
/// The names of types are written in members of the struct, because an extension of a type that is nested in another
/// does not see the names in the outer one. The initializer is in an extension, so that the struct keeps its memberwise
/// initializer.
struct TableMacro: ExtensionMacro, MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard var model = RecordModel.read(node, declaration, in: context).model else { return [] }
        for index in model.columns.indices where !TypeRules.isKnown(model.columns[index].type) {
            let type = model.columns[index].type
            guard let location = context.location(of: type, at: .afterLeadingTrivia, filePathMode: .filePath) else {
                continue
            }
            model.columns[index].location = "file: \(location.file), line: \(location.line)"
        }
        return model.members.map { "\(raw: $0)" }
    }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let (model, problems) = RecordModel.read(node, declaration, in: context)
        for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
        guard let model else { return [] }
        let source = model.conformance(
            of: type.trimmedDescription, missing: Set(protocols.map { $0.trimmedDescription.lastName }),
            isComplete: problems.isEmpty)
        return [try ExtensionDeclSyntax("\(raw: source)")]
    }
}
#endif
