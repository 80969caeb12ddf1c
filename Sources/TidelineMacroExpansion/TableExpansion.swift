internal import SwiftDiagnostics
package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The implementation of `@Table`. The compiler looks for a macro in the module of the plug-in, whose type conforms.
package protocol TableExpansion: ExtensionMacro {}

extension TableExpansion {
    package static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let (model, problems) = RecordModel.read(node, declaration, type: type.trimmedDescription)
        for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
        guard var model else { return [] }
        for index in model.columns.indices where !TypeRules.isKnown(model.columns[index].type) {
            let type = model.columns[index].type
            guard let location = context.location(of: type, at: .afterLeadingTrivia, filePathMode: .filePath) else { continue }
            model.columns[index].location = "file: \(location.file), line: \(location.line)"
        }
        let missing = Set(protocols.map { $0.trimmedDescription.lastName })
        return [
            try ExtensionDeclSyntax("\(raw: model.source(missing: missing, isComplete: problems.isEmpty))")
        ]
    }
}
