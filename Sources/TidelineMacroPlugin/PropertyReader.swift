#if Macros
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// Reads the stored properties of a record.
struct PropertyReader {
    /// The name of the record's type without the types that contain it.
    let record: String
    var problems = Problems()
    private(set) var columns: [ColumnModel] = []
    private(set) var hasID = false
    private(set) var hasValidID = false
    /// The number of columns that are declared before `id`.
    private(set) var idPosition = 0
    /// Whether the compiler makes the memberwise initializer, with a parameter of the property's type for each
    /// property.
    private(set) var hasMemberwiseInitializer = true

    init(record: String) { self.record = record }

    mutating func read(_ members: MemberBlockItemListSyntax) {
        for member in members {
            switch member.decl.kind {
            case .initializerDecl, .macroExpansionDecl, .ifConfigDecl: hasMemberwiseInitializer = false
            default: break
            }
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                read(variable)
            } else if let conditional = member.decl.as(IfConfigDeclSyntax.self), conditional.hasStoredProperties {
                problems.add(
                    "a property inside #if cannot be a column, because the definition of a table must not depend on the "
                        + "build", at: conditional)
            }
        }
    }

    private mutating func read(_ variable: VariableDeclSyntax) {
        guard variable.isStoredInstanceProperty else { return }
        if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
            problems.add("a lazy property cannot be a column; make it computed or static", at: lazy)
            return
        }
        // Another attribute may be a property wrapper.
        if !variable.attributes.haveOnly("Column", "Index", "Merge", "References", "available") {
            hasMemberwiseInitializer = false
        }
        var type: TypeSyntax?
        var read: [(PatternBindingSyntax, TypeSyntax?)] = []
        // In `var a, b: Int`, both have the type.
        for binding in variable.bindings.reversed() {
            type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
            read.append((binding, type))
        }
        for (binding, type) in read.reversed() { self.read(binding, type, of: variable) }
    }

    private mutating func read(_ binding: PatternBindingSyntax, _ type: TypeSyntax?, of variable: VariableDeclSyntax) {
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            problems.add("each property of a record needs a declaration of its own", at: binding.pattern)
            return
        }
        if name.plainName == "id" {
            readID(binding, type, of: variable)
            return
        }
        if binding.initializer != nil, variable.bindingSpecifier.tokenKind == .keyword(.let) {
            problems.add(
                "\(name.text) is a constant with a value and cannot be read from a row; declare it with var, or as static",
                at: variable.bindingSpecifier, fix: variable.makeVariable)
            return
        }
        guard let type = self.type(of: binding, type, name) else { return }
        readColumn(name, type, binding.initializer?.value, of: variable)
    }

    private mutating func type(
        of binding: PatternBindingSyntax, _ type: TypeSyntax?, _ name: TokenSyntax
    ) -> TypeSyntax? {
        guard let type else {
            guard let value = binding.initializer?.value else { return nil }
            if let type = TypeRules.type(of: value) { return type }
            problems.add(
                "\(name.text) needs a type, because the macro does not see the type of its value",
                at: name, fix: binding.addType(TypeRules.probableType(of: value) ?? "<#type#>"))
            return nil
        }
        if let problem = TypeRules.problem(with: type) {
            problems.add("a column cannot hold \(problem.reason)", at: problem.node)
            return nil
        }
        return type
    }

    // MARK: Columns

    private mutating func readColumn(
        _ property: TokenSyntax, _ type: TypeSyntax, _ value: ExprSyntax?, of variable: VariableDeclSyntax
    ) {
        if let value, let problem = TypeRules.problem(withDefault: value, of: type) {
            problems.add("the default value of \(property.text) cannot be stored: \(problem)", at: value)
        }
        var column = ColumnModel(
            property: property.text, name: property.plainName, type: type, isOptional: type.unwrapped != nil,
            defaultValue: value, access: variable.modifiers.access, nameSyntax: Syntax(property))
        readArguments(of: &column, variable.attributes)
        checkName(of: column)
        column.rule = variable.attributes.named("Merge").first?.expressions.first
        for index in variable.attributes.named("Index") {
            column.indexes.append(index.expressions.compactMap { literal($0) })
        }
        if let reference = variable.attributes.named("References").first {
            column.isReference = isValid(reference, of: column)
        }
        columns.append(column)
    }

    /// Reads the arguments of `@Column("name", unknown: value)`.
    private mutating func readArguments(of column: inout ColumnModel, _ attributes: AttributeListSyntax) {
        let arguments = attributes.named("Column").first?.labeledExpressions ?? []
        column.unknown = arguments.first { $0.label?.text == "unknown" }?.expression
        guard let argument = arguments.first(where: { $0.label == nil }), let literal = literal(argument.expression)
        else {
            return
        }
        column.name = literal.text ?? ""
        column.nameSyntax = Syntax(literal)
    }

    private mutating func checkName(of column: ColumnModel) {
        if let problem = NameRules.problem(withColumn: column.name) {
            problems.add(problem + "; give the column another with @Column(\"name\")", at: column.nameSyntax)
        }
        let folded = NameRules.folded(column.name)
        if let earlier = columns.first(where: { NameRules.folded($0.name) == folded }) {
            let difference = earlier.name == column.name ? "" : ", and the names differ only in ASCII case"
            problems.add(
                "\(earlier.property) and \(column.property) are stored in the same column\(difference); give one of them "
                    + "another name with @Column(\"name\")", at: column.nameSyntax,
                note: (earlier.nameSyntax, "the column of \(earlier.property)"))
        }
    }

    /// Returns an argument as a literal without interpolations.
    mutating func literal(_ argument: ExprSyntax) -> StringLiteralExprSyntax? {
        if let literal = argument.as(StringLiteralExprSyntax.self), literal.text != nil { return literal }
        problems.add("a macro needs the name as a string literal", at: argument)
        return nil
    }

    /// Checks that the column has the type of the identifiers of the referenced record.
    private mutating func isValid(_ reference: AttributeSyntax, of column: ColumnModel) -> Bool {
        guard let argument = reference.expressions.first else { return false }
        guard let member = argument.as(MemberAccessExprSyntax.self), let base = member.base?.trimmedDescription,
            member.declName.baseName.text == "self"
        else {
            problems.add("a macro needs the type of the referenced record, such as TodoList.self", at: argument)
            return false
        }
        // `ID<TodoList>` may not compile beside @References, because `ID` can mean the identifier of the record there.
        let type = column.type.unwrapped ?? column.type
        let names = [type.is(MemberTypeSyntax.self) ? type.identifiedRecord : nil, base]
            .map { $0 == "Self" ? record : $0?.lastName }
        guard names[0] == names[1] else {
            let type: TypeSyntax = "\(raw: base).ID\(raw: column.isOptional ? "?" : "")"
            problems.add(
                "a reference to \(base) has the type \(base).ID or \(base).ID?", at: column.type,
                fix: .replace("replace the type with \(type)", column.type, with: type))
            return false
        }
        return true
    }

    // MARK: Identifier

    private mutating func readID(_ binding: PatternBindingSyntax, _ type: TypeSyntax?, of variable: VariableDeclSyntax)
    {
        hasID = true
        idPosition = columns.count
        let right: TypeSyntax = "ID<\(raw: record)>"
        guard let type else {
            problems.add(
                "the property id needs the type ID<\(record)>", at: binding.pattern, fix: binding.addType(right))
            return
        }
        guard let found = type.identifiedRecord, ["Self", record].contains(found.lastName) else {
            problems.add(
                "the property id has the type ID<\(record)>, not \(type.trimmedDescription)", at: type,
                fix: .replace("replace the type with ID<\(record)>", type, with: right))
            return
        }
        hasValidID = true
        if binding.initializer != nil, variable.bindingSpecifier.tokenKind == .keyword(.let) {
            problems.add(
                "id is a constant with a value and cannot be read from a row; declare it with var",
                at: variable.bindingSpecifier, fix: variable.makeVariable)
        }
    }
}
#endif
