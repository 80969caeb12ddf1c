#if Macros
internal import SwiftSyntax

extension VariableDeclSyntax {
    /// Whether the declaration is of stored properties of an instance. One with observers is.
    var isStoredInstanceProperty: Bool {
        !modifiers.contains(.static, .class)
            && bindings.allSatisfy { binding in
                switch binding.accessorBlock?.accessors {
                case nil: true
                case .getter: false
                case .accessors(let accessors):
                    accessors.allSatisfy {
                        [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
                    }
                }
            }
    }

    /// Replaces `let` with `var`.
    var makeVariable: Fix {
        .replace("replace let with var", bindingSpecifier, with: TokenSyntax.keyword(.var))
    }
}

extension PatternBindingSyntax {
    /// Adds a type to the declaration.
    func addType(_ type: TypeSyntax) -> Fix {
        let annotation = TypeAnnotationSyntax(
            colon: .colonToken(trailingTrivia: .space), type: type.with(\.trailingTrivia, pattern.trailingTrivia))
        var binding = self
        binding.pattern.trailingTrivia = []
        binding.typeAnnotation = annotation
        return .replace("add the type \(type.trimmedDescription)", self, with: binding)
    }
}

extension IfConfigDeclSyntax {
    /// Whether a clause has a stored property.
    var hasStoredProperties: Bool {
        clauses.contains { clause in
            guard case .decls(let members) = clause.elements else { return false }
            return members.contains { member in
                member.decl.as(VariableDeclSyntax.self)?.isStoredInstanceProperty
                    ?? member.decl.as(IfConfigDeclSyntax.self)?.hasStoredProperties ?? false
            }
        }
    }
}

extension DeclModifierListSyntax {
    /// The access modifier for generated members, with a space, or an empty text for internal access.
    ///
    /// Extensions of the type in the same file cannot use the private members of a type nested in it.
    var access: String {
        for modifier in self where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.open): return "public "
            case .keyword(.package): return "package "
            case .keyword(.fileprivate), .keyword(.private): return "fileprivate "
            default: continue
            }
        }
        return ""
    }
}

extension String {
    /// The part after the last period.
    var lastName: String { split(separator: ".").last.map(String.init) ?? self }
}
#endif
