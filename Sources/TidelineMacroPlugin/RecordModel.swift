#if Macros
internal import SwiftParser
internal import SwiftSyntax

/// A record as its declaration describes it.
struct RecordModel {
    /// The name of the type.
    var name: String
    /// Whether the type is nested in another.
    var isNested: Bool
    /// The literal with the name of the table.
    var tableName: String
    /// The matching of identifiers, if it is not the default one.
    var idMatching: String?
    var modifiers: DeclModifierListSyntax
    /// The attributes of the type that its extensions need.
    var attributes: [String]
    var columns: [ColumnModel]
    /// The number of columns that are declared before `id`, or `nil` if the struct may not have the memberwise
    /// initializer that the compiler makes.
    var idPosition: Int?
}

/// A stored property of a record, and its column.
struct ColumnModel {
    /// The name of the property, with the backticks that it may need.
    var property: String
    /// The name of the column.
    var name: String
    var type: TypeSyntax
    /// Whether the type is an optional, as far as the declaration shows.
    var isOptional: Bool
    var defaultValue: ExprSyntax?
    /// The substitute for values that the type cannot hold.
    var unknown: ExprSyntax?
    /// The access modifier of the property, with a space, or an empty text for internal access.
    var access: String
    /// The rule for conflicts.
    var rule: ExprSyntax?
    var isReference = false
    /// The indexes that begin with the column: the literals with the names of the properties that follow.
    var indexes: [[StringLiteralExprSyntax]] = []
    /// The syntax with the column's name.
    var nameSyntax: Syntax
    /// The file and the line of the type as arguments of `#sourceLocation`, if the macro does not know the type, so
    /// that the compiler's error falls on that line.
    var location: String?

    /// The name of the property without backticks.
    var plainProperty: String { property.filter { $0 != "`" } }
}

extension StringLiteralExprSyntax {
    /// The text of a literal without interpolations, or `nil`.
    var text: String? { representedLiteralValue }
}

extension AttributeListSyntax {
    /// Whether all attributes have one of these names.
    func haveOnly(_ names: String...) -> Bool { count == names.map { named($0).count }.reduce(0, +) }

    /// Returns the attributes with a name, which may be qualified with its module.
    func named(_ name: String) -> [AttributeSyntax] {
        compactMap { element in
            guard case .attribute(let attribute) = element else { return nil }
            let found = attribute.attributeName.trimmedDescription
            return found == name || found == "TidelineMacros.\(name)" ? attribute : nil
        }
    }
}

extension AttributeSyntax {
    /// The arguments in parentheses with their labels.
    var labeledExpressions: [LabeledExprSyntax] {
        guard case .argumentList(let list) = arguments else { return [] }
        return Array(list)
    }

    /// The arguments in parentheses.
    var expressions: [ExprSyntax] { labeledExpressions.map(\.expression) }
}

extension DeclModifierListSyntax {
    func contains(_ keywords: Keyword...) -> Bool {
        contains { modifier in keywords.contains { modifier.name.tokenKind == .keyword($0) } }
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var plainName: String { identifier?.name ?? text }
}
#endif
