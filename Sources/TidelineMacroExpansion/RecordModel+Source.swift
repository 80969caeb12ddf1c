internal import SwiftSyntax

extension RecordModel {
    /// The source of the conformance, as an app would write it by hand.
    ///
    /// - Parameters:
    ///   - missing: The protocols to which the type does not conform otherwise.
    ///   - isComplete: Whether `columns` are all the stored properties. If not, the compilation fails, and the source avoids
    ///     errors beside those that are reported.
    func source(missing: Set<String>, isComplete: Bool) -> String {
        let merges = columns.contains { $0.rule != nil }
        let protocols = [("TidelineStore", "TableRecord")] + (merges ? [("Tideline", "MergingRecord")] : [])
        let conformances = protocols.filter { missing.contains($0.1) }.map { "\($0.0).\($0.1)" }
        let inheritance = conformances.isEmpty ? "" : ": " + conformances.joined(separator: ", ")
        let nonisolated = modifiers.contains(.nonisolated) ? "nonisolated " : ""
        var members = [columnsSource, "\(access)static let columns = Columns()", "\(access)static let tableName = \(tableName)"]
        members.append(schemaSource)
        if merges { members.append(rulesSource) }
        members.append(isComplete ? readingSource : "\(access)init(from row: inout TidelineStore.RecordReader) throws { fatalError() }")
        members.append(writingSource)
        let header = attributes.map { $0 + "\n" }.joined() + "\(nonisolated)extension \(type)\(inheritance) {"
        return ([header] + members.map(\.indented) + ["}"]).joined(separator: "\n")
    }

    /// The access of the members of the extension.
    private var access: String { modifiers.access == "fileprivate " ? "" : modifiers.access }

    private var columnsSource: String {
        let members = columns.map { column in
            let type = column.type.asColumnType(of: type)
            let declaration =
                "\(column.access(within: access))let \(column.property) = TidelineStore.Column<\(type)>(\(column.name.literal))"
            guard let location = column.location else { return declaration }
            return "#sourceLocation(\(location))\n\(declaration)\n#sourceLocation()"
        }
        guard !members.isEmpty else { return "\(access)struct Columns: Sendable {}" }
        return block("\(access)struct Columns: Sendable", members)
    }

    private var schemaSource: String {
        let names = Dictionary(uniqueKeysWithValues: columns.map { ($0.plainProperty, $0.name) })
        var arguments = ["tableName", list("columns", columns.map { ".column(columns.\($0.property)\($0.optionality))" })]
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
        return "\(access)static let schema = TidelineStore.TableSchema(\n" + arguments.joined(separator: ",\n").indented + ")"
    }

    private var rulesSource: String {
        let rules = columns.compactMap { column in
            column.rule.map { "\(column.name.literal): \($0.trimmedDescription)" }
        }
        return "\(access)static let mergeRules: [Swift.String: Tideline.MergeRule] = [\(rules.joined(separator: ", "))]"
    }

    private var readingSource: String {
        let statements = columns.map { column in
            // A stored null of an optional property is `nil`, whatever its default value.
            let value = column.isOptional ? nil : column.defaultValue?.trimmedDescription
            return "self.\(column.property) = try row.read(Self.columns.\(column.property)\(value.map { ", default: \($0)" } ?? ""))"
        }
        return block(
            "\(access)init(from row: inout TidelineStore.RecordReader) throws", ["self.id = row.id()"] + statements)
    }

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

extension TypeSyntax {
    /// The text of the type as it is written in the struct `Columns`, which is nested in the record.
    fileprivate func asColumnType(of record: String) -> String {
        let type = NestedNames(record: record).rewrite(trimmed).description
        return self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) ? type.dropLast() + "?" : type
    }
}

/// Replaces names that mean something else in a type nested in a record: `Self`, and `ID` with a type in angle brackets,
/// because `ID` is the identifier of the record there.
private final class NestedNames: SyntaxRewriter {
    private let record: String

    init(record: String) {
        self.record = record
        super.init()
    }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        switch (node.name.text, node.genericArgumentClause) {
        case ("Self", nil): "\(raw: record)"
        case ("ID", .some(let arguments)): "TidelineStore.ID\(rewrite(arguments))"
        default: super.visit(node)
        }
    }
}
