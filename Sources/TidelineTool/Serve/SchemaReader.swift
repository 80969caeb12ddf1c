internal import TidelineCommandSupport
internal import TidelineStore
internal import Yams

/// Creates table definitions from a parsed schema file, and reports errors with their location.
struct SchemaReader {
    var file: String

    func tables(_ root: Node?) throws -> [TableSchema] {
        guard let root, let mapping = root.mapping else {
            throw fault("a schema must be a mapping with the key \"tables\"", at: root)
        }
        try requireKeys(of: mapping, among: ["tables"], place: "the schema")
        guard let tables = mapping["tables"], let entries = tables.mapping, !entries.isEmpty else {
            throw fault("\"tables\" must map the name of at least one table to its definition", at: root)
        }
        let schemas = try entries.map { try table(name: text($0.key, "a table's name"), $0.value) }
        try checkNames(schemas, in: entries)
        return schemas
    }

    private func table(name: String, _ node: Node) throws -> TableSchema {
        let place = "table \(name.debugDescription)"
        guard let mapping = node.mapping else {
            throw fault("\(place) must be a mapping with \"columns\"", at: node)
        }
        try requireKeys(of: mapping, among: ["columns", "indexes", "references"], place: place)
        guard let columns = mapping["columns"]?.mapping else {
            throw fault("\(place) needs \"columns\", a mapping of column names to types", at: node)
        }
        let schema = TableSchema(
            name,
            columns: try columns.map { try column(name: text($0.key, "\(place), a column's name"), $0.value, place) },
            systemColumns: .all,
            indexes: try mapping["indexes"].map { try indexes($0, place) } ?? [],
            references: try mapping["references"].map { try references($0, place) } ?? []
        )
        do {
            try schema.validate()
        } catch {
            let column = error.column.map { ", column \($0.debugDescription)" } ?? ""
            throw fault("\(place)\(column): \(error.message)", at: node)
        }
        return schema
    }

    private func column(name: String, _ node: Node, _ table: String) throws -> ColumnSchema {
        let place = "\(table), column \(name.debugDescription)"
        if let scalar = node.scalar { return ColumnSchema(name, try type(scalar.string, at: node, place)) }
        guard let mapping = node.mapping else {
            throw fault("\(place) must be a type, or a mapping with \"type\" and \"required\"", at: node)
        }
        try requireKeys(of: mapping, among: ["type", "required"], place: place)
        guard let typeNode = mapping["type"] else { throw fault("\(place) has no \"type\"", at: node) }
        var column = ColumnSchema(name, try type(text(typeNode, "\(place), its type"), at: typeNode, place))
        if let required = mapping["required"] {
            guard let flag = required.bool else {
                throw fault("\(place): \"required\" must be true or false", at: required)
            }
            column.isOptional = !flag
        }
        return column
    }

    private func type(_ name: String, at node: Node, _ place: String) throws -> ColumnType {
        if let type = ColumnType(rawValue: name) { return type }
        let names = ColumnType.allCases.map(\.rawValue)
        throw fault(
            "\(place): there is no type \(name.debugDescription).\(suggestion(for: name, among: names))"
                + " The types are: \(names.joined(separator: ", "))", at: node)
    }

    private func indexes(_ node: Node, _ place: String) throws -> [IndexSchema] {
        guard let sequence = node.sequence else {
            throw fault("\(place): \"indexes\" must be a list of indexes, each a list of columns", at: node)
        }
        return try sequence.map { entry in
            guard let columns = entry.sequence else {
                throw fault("\(place): an index must be a list of columns", at: entry)
            }
            return IndexSchema(try columns.map { try text($0, "\(place), an index's column") })
        }
    }

    private func references(_ node: Node, _ place: String) throws -> [ForeignKey] {
        guard let mapping = node.mapping else {
            throw fault("\(place): \"references\" must map a column to the table whose ids it contains", at: node)
        }
        return try mapping.map { entry in
            ForeignKey(
                column: try text(entry.key, "\(place), a reference's column"),
                table: try text(entry.value, "\(place), a reference's table"))
        }
    }

    /// Checks that table names differ in more than case, because some stores ignore case, and that each reference names
    /// an existing table.
    private func checkNames(_ schemas: [TableSchema], in entries: Node.Mapping) throws {
        var seen: Set<String> = []
        for (schema, entry) in zip(schemas, entries) where !seen.insert(schema.name.lowercased()).inserted {
            throw fault("table \(schema.name.debugDescription) is defined more than once", at: entry.key)
        }
        let names = schemas.map(\.name)
        for (schema, entry) in zip(schemas, entries) {
            for reference in schema.references where !names.contains(reference.table) {
                throw fault(
                    "table \(schema.name.debugDescription), column \(reference.column.debugDescription): there is no"
                        + " table \(reference.table.debugDescription).\(suggestion(for: reference.table, among: names))",
                    at: entry.value)
            }
        }
    }

    private func requireKeys(of mapping: Node.Mapping, among known: [String], place: String) throws {
        for entry in mapping {
            let key = try text(entry.key, "\(place), a key")
            guard known.contains(key) else {
                throw fault(
                    "\(place) has no key \(key.debugDescription).\(suggestion(for: key, among: known))"
                        + " The keys are: \(known.joined(separator: ", "))", at: entry.key)
            }
        }
    }

    private func text(_ node: Node, _ place: String) throws -> String {
        guard let scalar = node.scalar else { throw fault("\(place) must be a string", at: node) }
        return scalar.string
    }

    private func fault(_ message: String, at node: Node?) -> ToolError {
        let line = (node?.mark).map { ":\($0.line)" } ?? ""
        return ToolError("\(file)\(line): \(message)")
    }
}
