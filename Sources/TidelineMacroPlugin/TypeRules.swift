#if Macros
internal import SwiftSyntax

/// The types of columns, as far as the syntax shows them.
enum TypeRules {
    /// Returns the part of a type that no column can hold, and the reason, or `nil` if there is none.
    static func problem(with type: TypeSyntax) -> (node: TypeSyntax, reason: String)? {
        switch type.as(TypeSyntaxEnum.self) {
        case .tupleType(let tuple):
            if tuple.elements.count == 1, let only = tuple.elements.first { return problem(with: only.type) }
            return (
                type, tuple.elements.isEmpty ? "no value" : "a tuple; use a struct that conforms to JSONColumnValue"
            )
        case .functionType: return (type, "a function")
        case .someOrAnyType, .compositionType:
            return (type, "values of several types; use one type that conforms to JSONColumnValue")
        case .metatypeType: return (type, "a type")
        case .attributedType(let attributed): return problem(with: attributed.baseType)
        case .optionalType(let optional): return problem(withWrapped: optional.wrappedType, of: type)
        case .implicitlyUnwrappedOptionalType(let optional):
            return problem(withWrapped: optional.wrappedType, of: type)
        case .arrayType(let array): return problem(with: array.element)
        case .dictionaryType(let dictionary): return problem(with: dictionary.key) ?? problem(with: dictionary.value)
        case .identifierType(let identifier): return problem(with: identifier)
        default: return nil
        }
    }

    private static func problem(with identifier: IdentifierTypeSyntax) -> (node: TypeSyntax, reason: String)? {
        let type = TypeSyntax(identifier)
        switch identifier.name.text {
        case "Any", "AnyObject", "AnyHashable":
            return (type, "values of several types; use one type that conforms to JSONColumnValue")
        case "Void", "Never": return (type, "no value")
        case "Optional": return identifier.typeArguments.first.flatMap { problem(withWrapped: $0, of: type) }
        case "Array", "Set", "Dictionary":
            return identifier.typeArguments.lazy.compactMap { problem(with: $0) }.first
        default: return nil
        }
    }

    private static func problem(
        withWrapped wrapped: TypeSyntax, of type: TypeSyntax
    ) -> (node: TypeSyntax, reason: String)? {
        guard wrapped.unwrapped == nil else { return (type, "an optional of an optional; it has one null") }
        return problem(with: wrapped)
    }

    /// Returns whether a type, by its name, is one that a column can hold.
    static func isKnown(_ type: TypeSyntax) -> Bool {
        if let wrapped = type.unwrapped { return isKnown(wrapped) }
        return type.identifiedRecord != nil || known.contains(type.trimmedDescription)
    }

    private static let known: Set = [
        "Bool", "Data", "Date", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "String", "Timestamp",
        "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "URL", "UUID", "[UInt8]",
    ]

    /// Returns the type of the value of a literal, if it is a Boolean, a number, or text.
    static func type(of value: ExprSyntax) -> TypeSyntax? {
        switch value.as(ExprSyntaxEnum.self) {
        case .booleanLiteralExpr: "Bool"
        case .integerLiteralExpr: "Int"
        case .floatLiteralExpr: "Double"
        case .stringLiteralExpr: "String"
        case .prefixOperatorExpr(let negative) where negative.operator.text == "-": type(of: negative.expression)
        default: nil
        }
    }

    /// Returns the type that an expression such as `Date()` or `Priority.low` probably has.
    static func probableType(of value: ExprSyntax) -> TypeSyntax? {
        let base: ExprSyntax? =
            if let call = value.as(FunctionCallExprSyntax.self) {
                call.calledExpression
            } else {
                value.as(MemberAccessExprSyntax.self)?.base
            }
        guard let base, base.description.first?.isUppercase == true,
            base.is(DeclReferenceExprSyntax.self) || base.is(GenericSpecializationExprSyntax.self)
        else { return nil }
        return "\(raw: base.trimmedDescription)"
    }

    /// Returns why a default value of a type has no stored form, or `nil` if nothing is known against it.
    static func problem(withDefault value: ExprSyntax, of type: TypeSyntax) -> String? {
        let type = (type.unwrapped ?? type).trimmedDescription
        var literal = value
        var isNegative = false
        if let prefix = value.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
            (literal, isNegative) = (prefix.expression, true)
        }
        if value.is(ClosureExprSyntax.self) { return "a function" }
        if let member = literal.as(MemberAccessExprSyntax.self) {
            let base = member.base?.trimmedDescription ?? type
            switch (base, member.declName.baseName.text) {
            case ("Double", "nan"), ("Double", "infinity"), ("Double", "signalingNaN"), ("Float", "nan"),
                ("Float", "infinity"), ("Float", "signalingNaN"):
                return "JSON has no such number"
            case ("UInt", "max"), ("UInt64", "max"): return "a column holds integers up to Int64.max"
            default: return nil
            }
        }
        guard let integer = literal.as(IntegerLiteralExprSyntax.self), !isNegative, ["UInt", "UInt64"].contains(type),
            let number = integer.number, number > UInt64(Int64.max)
        else { return nil }
        return "a column holds integers up to Int64.max"
    }
}

extension TypeSyntax {
    /// The wrapped type of an optional, or `nil` for another type.
    var unwrapped: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        if let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return optional.wrappedType }
        if let identifier = self.as(IdentifierTypeSyntax.self), identifier.name.text == "Optional" {
            return identifier.typeArguments.first
        }
        return nil
    }

    /// The text of the record's type in `ID<Todo>`, `TidelineStore.ID<Todo>`, or `Todo.ID`, or `nil` in
    /// another type.
    var identifiedRecord: String? {
        if let identifier = self.as(IdentifierTypeSyntax.self), identifier.name.text == "ID" {
            return identifier.typeArguments.first?.trimmedDescription
        }
        guard let member = self.as(MemberTypeSyntax.self), member.name.text == "ID" else { return nil }
        guard let arguments = member.genericArgumentClause else { return member.baseType.trimmedDescription }
        return arguments.types.first?.trimmedDescription
    }
}

extension GenericArgumentClauseSyntax {
    fileprivate var types: [TypeSyntax] { arguments.compactMap { $0.argument.as(TypeSyntax.self) } }
}

extension IdentifierTypeSyntax {
    /// The types between angle brackets.
    fileprivate var typeArguments: [TypeSyntax] { genericArgumentClause?.types ?? [] }
}

extension IntegerLiteralExprSyntax {
    /// The number, or `nil` if it has more than 64 bits.
    fileprivate var number: UInt64? {
        let digits = literal.text.filter { $0 != "_" }.lowercased()
        let radix = ["0x": 16, "0o": 8, "0b": 2][digits.prefix(2)] ?? 10
        return UInt64(radix == 10 ? digits[...] : digits.dropFirst(2), radix: radix)
    }
}
#endif
