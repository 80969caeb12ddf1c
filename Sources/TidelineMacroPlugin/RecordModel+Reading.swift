#if Macros
internal import SwiftSyntax
internal import SwiftSyntaxMacros

extension RecordModel {
    /// Reads the declaration that `@Table` is attached to.
    ///
    /// - Returns: The record, or `nil` if it cannot conform to `TableRecord`, and the errors.
    static func read(
        _ table: AttributeSyntax, _ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
    ) -> (model: RecordModel?, problems: Problems) {
        guard let record = declaration.as(StructDeclSyntax.self) else {
            var problems = Problems()
            problems.add("@Table can only be attached to a struct", at: table)
            return (nil, problems)
        }
        var reader = PropertyReader(record: record.name.plainName)
        reader.read(record.memberBlock.members)
        checkIndexes(of: reader.columns, &reader.problems)
        if let generics = record.genericParameterClause {
            reader.problems.add("a record cannot have type parameters", at: generics)
            return (nil, reader.problems)
        }
        if !reader.hasID {
            reader.problems.add(
                "\(record.name.text) needs an identifier: var id: ID<\(record.name.text)> = .new", at: record.name,
                fix: record.addID)
        }
        let arguments = table.labeledExpressions
        guard reader.hasValidID, let argument = arguments.first?.expression, let name = reader.literal(argument) else {
            return (nil, reader.problems)
        }
        if let problem = name.text.flatMap({ NameRules.problem(withTable: $0) }) {
            reader.problems.add(problem, at: argument)
        }
        let model = RecordModel(
            name: record.name.text, isNested: !context.lexicalContext.isEmpty, tableName: name.trimmedDescription,
            idMatching: arguments.first { $0.label?.text == "idMatching" }?.expression.trimmedDescription,
            modifiers: allModifiers(of: record, in: context),
            attributes: record.attributes.named("available").map(\.trimmedDescription),
            columns: reader.columns,
            // Another macro of the type may declare an initializer.
            idPosition: reader.hasMemberwiseInitializer && record.attributes.haveOnly("Table", "available")
                ? reader.idPosition : nil)
        return (model, reader.problems)
    }

    /// Returns the modifiers of a record. If it states no access, it has that of the extension that contains it.
    private static func allModifiers(
        of record: StructDeclSyntax, in context: some MacroExpansionContext
    ) -> DeclModifierListSyntax {
        var modifiers = record.modifiers
        if modifiers.access.isEmpty, let extended = context.lexicalContext.first?.as(ExtensionDeclSyntax.self) {
            modifiers.append(contentsOf: extended.modifiers)
        }
        return modifiers
    }

    /// Checks that each name in `@Index` is that of another property, and that no index occurs twice.
    private static func checkIndexes(of columns: [ColumnModel], _ problems: inout Problems) {
        let names = columns.map(\.plainProperty) + ["id"]
        for column in columns {
            for index in column.indexes {
                var seen: Set = [column.plainProperty]
                for literal in index {
                    guard let name = literal.text else { continue }
                    if !names.contains(name) {
                        problems.add(
                            "no property \(name) of the record is a column; an index names properties", at: literal)
                    } else if !seen.insert(name).inserted {
                        problems.add("an index has each column only once", at: literal)
                    }
                }
            }
        }
    }
}

extension StructDeclSyntax {
    /// Adds the property `id` as the first member.
    fileprivate var addID: Fix {
        let first = memberBlock.members.first
        let indentation = first?.leadingTrivia ?? .newline + .spaces(4)
        let property: DeclSyntax = "var id: ID<\(name.trimmed)> = .new"
        var block = memberBlock
        block.members.insert(
            MemberBlockItemSyntax(decl: property.with(\.leadingTrivia, indentation)), at: block.members.startIndex)
        return .replace("add the property id", memberBlock, with: block)
    }
}
#endif
