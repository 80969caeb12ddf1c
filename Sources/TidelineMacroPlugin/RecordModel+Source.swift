#if Macros
internal import SwiftSyntax

extension RecordModel {
    /// The members of the record, as an app would write them by hand.
    var members: [String] {
        [
            columnsSource, "\(access)static let columns = Columns()", "\(access)static let tableName = \(tableName)",
            schemaSource,
        ] + (merges ? [rulesSource] : [])
    }

    /// The extension with the conformance.
    ///
    /// - Parameters:
    ///   - type: The record's type.
    ///   - missing: The protocols to which the type does not conform otherwise.
    ///   - isComplete: Whether `columns` are all the stored properties. If not, the compilation fails, and the source
    ///     avoids errors beside those that are reported.
    func conformance(of type: String, missing: Set<String>, isComplete: Bool) -> String {
        let protocols = [("TidelineStore", "TableRecord")] + (merges ? [("Tideline", "MergingRecord")] : [])
        let conformances = protocols.filter { missing.contains($0.1) }.map { "\($0.0).\($0.1)" }
        let inheritance = conformances.isEmpty ? "" : ": " + conformances.joined(separator: ", ")
        let header = "\(modifiers.contains(.nonisolated) ? "nonisolated " : "")extension \(type)\(inheritance)"
        let reading = isComplete ? readingSource : "\(readingHeader) { fatalError() }"
        return attributes.map { $0 + "\n" }.joined() + block(header, [reading, writingSource])
    }

    private var merges: Bool { columns.contains { $0.rule != nil } }

    /// The access of the members of the extension.
    private var access: String { modifiers.access == "fileprivate " ? "" : modifiers.access }

    private var columnsSource: String {
        let names = NestedNames(record: name)
        let members = columns.map { column in
            let value = "TidelineStore.Column<\(names.text(of: column.type))>(\(column.name.literal))"
            let declaration = "\(column.access(within: access))let \(column.property) = \(value)"
            guard let location = column.location else { return declaration }
            return "#sourceLocation(\(location))\n\(declaration)\n#sourceLocation()"
        }
        let substitutes = columns.flatMap { column in
            column.substitutes.compactMap { substitute -> String? in
                guard isNested, substitute.value.namesDeclarations else { return nil }
                let type = names.text(of: column.type)
                return "fileprivate static var \(substitute.name): \(type) { \(names.text(of: substitute.value)) }"
            }
        }
        guard !members.isEmpty else { return "\(access)struct Columns: Sendable {}" }
        return block("\(access)struct Columns: Sendable", members + substitutes)
    }

    private var schemaSource: String {
        let names = Dictionary(columns.map { ($0.plainProperty, $0.name) }) { first, _ in first }
        var arguments = [
            "tableName", list("columns", columns.map { ".column(columns.\($0.property)\($0.optionality))" }),
        ]
        if let idMatching { arguments.append("idMatching: \(idMatching)") }
        let indexes = columns.flatMap { column in
            column.indexes.map { others in
                let properties = [column.plainProperty] + others.compactMap(\.text)
                return "[\(properties.map { (names[$0] ?? $0).literal }.joined(separator: ", "))]"
            }
        }
        if !indexes.isEmpty { arguments.append(list("indexes", indexes)) }
        let references = columns.filter(\.isReference).map { "TidelineStore.ForeignKey(columns.\($0.property))" }
        if !references.isEmpty { arguments.append(list("references", references)) }
        let list = arguments.joined(separator: ",\n").indented
        return "\(access)static let schema = TidelineStore.TableSchema(\n\(list))"
    }

    private var rulesSource: String {
        let rules = columns.compactMap { column in
            column.rule.map { "\(column.name.literal): \($0.trimmedDescription)" }
        }
        return "\(access)static let mergeRules: [Swift.String: Tideline.MergeRule] = [\(rules.joined(separator: ", "))]"
    }

    private var readingSource: String {
        let values = columns.map { column in
            let arguments = column.substitutes.map { substitute in
                let value = substitute.value
                let isNamed = isNested && value.namesDeclarations
                return ", \(substitute.label): \(isNamed ? "Columns.\(substitute.name)" : value.trimmedDescription)"
            }
            return (column, "row.read(Self.columns.\(column.property)\(arguments.joined()))")
        }
        guard let idPosition else {
            return block(
                readingHeader, ["self.id = row.id()"] + values.map { "self.\($0.property) = try \($1)" })
        }
        // With an initializer that sets the properties one by one, the compiler copies the finished record once more.
        var arguments = values.map { "\($0.label): \($1)" }
        arguments.insert("id: row.id()", at: idPosition)
        let attempt = columns.isEmpty ? "" : "try "
        return block(readingHeader, ["\(attempt)self.init(\n\(arguments.joined(separator: ",\n").indented))"])
    }

    private var readingHeader: String { "\(access)init(from row: inout TidelineStore.RecordReader) throws" }

    private var writingSource: String {
        let statements = columns.map { "try row.write(self.\($0.property), to: Self.columns.\($0.property))" }
        return block("\(access)func write(to row: inout TidelineStore.RecordWriter) throws", statements)
    }

    private func block(_ header: String, _ lines: [String]) -> String {
        lines.isEmpty ? header + " {}" : ([header + " {"] + lines.map(\.indented) + ["}"]).joined(separator: "\n")
    }

    private func list(_ label: String, _ elements: [String]) -> String {
        guard elements.count > 1 else { return "\(label): [\(elements.joined())]" }
        return (["\(label): ["] + elements.map { $0.indented + "," } + ["]"]).joined(separator: "\n")
    }
}

extension ColumnModel {
    /// The name of the property as an argument's label, where only these keywords need backticks, and others must not
    /// have them.
    fileprivate var label: String {
        let isWord = plainProperty.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return isWord && !["inout", "let", "var"].contains(plainProperty) ? plainProperty : property
    }

    /// The values that others read as, with the label of the reader's method and a name: that of null, and that of a
    /// value which the type cannot hold. A null of an optional property is `nil`, whatever its default value.
    fileprivate var substitutes: [(label: String, name: String, value: ExprSyntax)] {
        let null = isOptional ? nil : defaultValue
        return [null.map { ("default", property, $0) }, unknown.map { ("unknown", "unknown_\(plainProperty)", $0) }]
            .compactMap(\.self)
    }

    /// The argument that makes the column of a property with a default value optional.
    fileprivate var optionality: String { defaultValue == nil || isOptional ? "" : ", optional: true" }

    /// The lesser access of the property and its record.
    fileprivate func access(within record: String) -> String {
        let order = ["fileprivate ", "", "package ", "public "]
        return order.first { $0 == access || $0 == record } ?? ""
    }
}

extension String {
    /// A literal with this text.
    fileprivate var literal: String { StringLiteralExprSyntax(content: self).description }

    fileprivate var indented: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }.joined(separator: "\n")
    }
}

extension ExprSyntax {
    /// Whether an expression has names that depend on where it is written: any but those of members.
    fileprivate var namesDeclarations: Bool {
        let finder = NameFinder(viewMode: .sourceAccurate)
        finder.walk(self)
        return finder.isFound
    }
}

private final class NameFinder: SyntaxVisitor {
    private(set) var isFound = false

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        if node.keyPathInParent != \MemberAccessExprSyntax.declName { isFound = true }
        return .skipChildren
    }
}

/// Replaces names that mean something else in the struct `Columns`, which is nested in the record: `Self`, and `ID`
/// with a type in angle brackets, because `ID` is the identifier of the record there.
private final class NestedNames: SyntaxRewriter {
    private let record: String

    init(record: String) {
        self.record = record
        super.init()
    }

    /// Returns the text of a type, in which an optional is not implicitly unwrapped.
    func text(of type: TypeSyntax) -> String {
        let text = rewrite(type.trimmed).description
        return type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) ? text.dropLast() + "?" : text
    }

    func text(of value: ExprSyntax) -> String { rewrite(value.trimmed).description }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        switch (node.name.text, node.genericArgumentClause) {
        case ("Self", nil): "\(raw: record)"
        case ("ID", .some(let arguments)): "TidelineStore.ID\(rewrite(arguments))"
        default: super.visit(node)
        }
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
        node.baseName.tokenKind == .keyword(.Self) ? "\(raw: record)" : super.visit(node)
    }
}
#endif
