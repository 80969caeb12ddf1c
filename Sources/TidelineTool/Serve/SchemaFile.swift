#if Serve
internal import TidelineServer
internal import TidelineStore
internal import TidelineSupport
internal import Yams

/// A YAML or JSON file that defines the tables and columns of a server, and who may do what with them. The help of
/// ``ServeCommand`` has an example.
struct SchemaFile: Sendable {
    /// The tables, in the order of the file.
    var tables: [TableSchema]
    /// The rights of the tables for which the file specifies an owner or rights.
    var rights: [String: TableRights] = [:]
    /// The location of the first owner or rights, for an error of a server that cannot enforce them.
    var firstRights: String?

    /// Reads the file at `path`.
    /// - Throws: ``ToolError``, with the file, line, table and column, if the file is invalid.
    static func read(_ path: String) throws -> SchemaFile {
        try parse(InputFile.text(path, kind: "schema file"), file: path)
    }

    /// Parses the text of a file. `file` is its name in error messages.
    static func parse(_ text: String, file: String) throws -> SchemaFile {
        try SchemaReader(file: file).schema(InputFile.yaml(text, file: file))
    }
}

/// Creates table definitions from a parsed schema file, and reports errors with their location.
struct SchemaReader {
    var file: String

    func schema(_ root: Node?) throws -> SchemaFile {
        guard let root, let mapping = root.mapping else {
            throw fault("a schema must be a mapping with the key \"tables\"", at: root)
        }
        try requireKeys(of: mapping, among: ["tables"], place: "the schema")
        guard let tables = mapping["tables"], let entries = tables.mapping, !entries.isEmpty else {
            throw fault("\"tables\" must map the name of at least one table to its definition", at: root)
        }
        let schemas = try entries.map { try table(name: text($0.key, "a table's name"), $0.value) }
        try checkNames(schemas, in: entries)
        var file = SchemaFile(tables: schemas)
        for (schema, entry) in zip(schemas, entries) {
            guard let (rights, place) = try rights(entry.value, of: schema) else { continue }
            file.rights[schema.name] = rights
            file.firstRights = file.firstRights ?? place
        }
        return file
    }

    private func table(name: String, _ node: Node) throws -> TableSchema {
        let place = "table \(name.debugDescription)"
        guard let mapping = node.mapping else {
            throw fault("\(place) must be a mapping with \"columns\"", at: node)
        }
        try requireKeys(of: mapping, among: ["columns", "indexes", "references", "owner", "rights"], place: place)
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
        if let scalar = node.scalar { return ColumnSchema(name, try choice("type", scalar.string, at: node, place)) }
        guard let mapping = node.mapping else {
            throw fault("\(place) must be a type, or a mapping with \"type\" and \"required\"", at: node)
        }
        try requireKeys(of: mapping, among: ["type", "required"], place: place)
        guard let typeNode = mapping["type"] else { throw fault("\(place) has no \"type\"", at: node) }
        let type: ColumnType = try choice("type", text(typeNode, "\(place), its type"), at: typeNode, place)
        var column = ColumnSchema(name, type)
        if let required = mapping["required"] {
            guard let flag = required.bool else {
                throw fault("\(place): \"required\" must be true or false", at: required)
            }
            column.isOptional = !flag
        }
        return column
    }

    /// Returns the type or the holder of a right with a name.
    private func choice<Choice: RawRepresentable & CaseIterable>(
        _ kind: String, _ name: String, at node: Node, _ place: String
    ) throws -> Choice where Choice.RawValue == String {
        if let choice = Choice(rawValue: name) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        throw fault(
            "\(place): there is no \(kind) \(name.debugDescription).\(suggestion(for: name, among: names))"
                + " Use one of: \(names.joined(separator: ", "))", at: node)
    }

    /// Returns the rights of a table with their location, or `nil` if the file specifies none.
    private func rights(_ node: Node, of schema: TableSchema) throws -> (TableRights, place: String)? {
        guard let first = node.mapping?["owner"] ?? node.mapping?["rights"] else { return nil }
        var rights = TableRights.signedIn
        let table = "table \(schema.name.debugDescription)"
        if let owner = node.mapping?["owner"] {
            let name = try text(owner, "\(table), key \"owner\"")
            guard schema.columns.contains(where: { $0.name == name && $0.type == .string }) else {
                throw fault(
                    "\(table), key \"owner\": \(name.debugDescription) must be one of the table's \"columns\", of type string",
                    at: owner)
            }
            rights.owner = name
        }
        if let node = node.mapping?["rights"] { try read(node, into: &rights, "\(table), key \"rights\"") }
        do {
            try rights.validate(for: schema.name)
        } catch {
            throw fault("\(table), key \"rights\": \(error.message)", at: node.mapping?["rights"] ?? first)
        }
        return (rights, fault(table, at: first).message)
    }

    private func read(_ node: Node, into rights: inout TableRights, _ place: String) throws {
        func holder(_ node: Node, _ place: String) throws -> TableRights.Holder {
            try choice("holder", text(node, place), at: node, place)
        }
        let keys: [(String, WritableKeyPath<TableRights, TableRights.Holder>)] = [
            ("read", \.read), ("insert", \.insert), ("update", \.update), ("delete", \.delete),
        ]
        guard let mapping = node.mapping else {
            let all = try holder(node, place)
            for (_, path) in keys { rights[keyPath: path] = all }
            return
        }
        try requireKeys(of: mapping, among: keys.map(\.0), place: place)
        for (key, path) in keys {
            guard let value = mapping[key] else { continue }
            rights[keyPath: path] = try holder(value, "\(place), \(key.debugDescription)")
        }
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
#endif
