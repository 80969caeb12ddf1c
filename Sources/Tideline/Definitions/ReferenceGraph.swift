internal import TidelineStore

/// The declared references between the synchronized tables of a store.
struct ReferenceGraph: Sendable, Codable {
    /// A column that contains identifiers of another table, or of its own.
    struct Reference: Sendable, Codable, Equatable {
        var table: String
        var column: String
        /// The table whose identifiers the column contains.
        var target: String
    }

    private(set) var references: [Reference] = []

    /// Returns the references of a table's columns.
    func references(of table: String) -> [Reference] { references.filter { $0.table == table } }

    /// Returns the references to a table.
    func references(to table: String) -> [Reference] { references.filter { $0.target == table } }

    func contains(_ reference: Reference) -> Bool { references.contains(reference) }

    /// Adds the references of a definition that the graph lacks.
    mutating func add(_ schema: TableSchema) {
        for key in schema.references {
            let reference = Reference(table: schema.name, column: key.column, target: key.table)
            if !contains(reference) { references.append(reference) }
        }
    }

    /// Returns whether the graph has all references of a definition.
    func includes(_ schema: TableSchema) -> Bool {
        schema.references.allSatisfy { contains(Reference(table: schema.name, column: $0.column, target: $0.table)) }
    }

    /// Removes the references of columns of a table.
    mutating func remove(columns: [String], of table: String) {
        references.removeAll { reference in
            reference.table == table && columns.contains(reference.column)
        }
    }

    // MARK: Checking

    /// Throws if a table of the graph is not defined, or if tables reference each other in a cycle.
    ///
    /// A table may reference itself.
    /// - Parameter tables: The names of all tables.
    func check(among tables: [String]) throws(SyncError) {
        let known = Set(tables)
        for reference in references where !known.contains(reference.target) {
            let hint = closestName(to: reference.target, among: tables)
                .map { "; did you mean \($0.debugDescription)?" }
            throw SyncError(
                .invalidArgument,
                "the column references the table \(reference.target.debugDescription), which is not defined"
                    + (hint ?? "; define it in the same call or before"),
                table: reference.table, column: reference.column)
        }
        guard let cycle = firstCycle(), let first = cycle.first else { return }
        let path = (cycle.map(\.table) + [first.table]).map(\.debugDescription).joined(separator: " -> ")
        throw SyncError(
            .invalidArgument,
            "the references between the tables form a cycle: \(path); remove one of them, because a push must send the "
                + "rows of one table first", table: first.table, column: first.column)
    }

    /// Returns references of several tables that form a cycle, or `nil` if there are none.
    private func firstCycle() -> [Reference]? {
        let others = references.filter { $0.table != $0.target }
        let outgoing = Dictionary(grouping: others, by: \.table)
        var finished: Set<String> = []
        for start in others.map(\.table) where !finished.contains(start) {
            var path: [Reference] = []
            var remaining = [ArraySlice(outgoing[start] ?? [])]
            while let reference = remaining.last?.first {
                remaining[remaining.count - 1].removeFirst()
                let target = reference.target
                if !finished.contains(target) {
                    path.append(reference)
                    if let begin = path.firstIndex(where: { $0.table == target }) {
                        return Array(path[begin...])
                    }
                    remaining.append(ArraySlice(outgoing[target] ?? []))
                }
                while remaining.last?.isEmpty == true {
                    remaining.removeLast()
                    finished.insert(path.popLast()?.target ?? start)
                }
            }
        }
        return nil
    }
}

extension TableSchema {
    /// Throws unless each reference is a column of this table that can contain identifiers.
    func checkReferences() throws(SyncError) {
        for reference in references where reference.column != "id" {
            guard let column = columns.first(where: { $0.name == reference.column }) else {
                throw SyncError(
                    .invalidArgument,
                    "the reference to \(reference.table.debugDescription) names a column that the table does not define"
                        + suggestion(for: reference.column), table: name, column: reference.column)
            }
            guard column.type == .string else {
                throw SyncError(
                    .invalidArgument,
                    "a column that references \(reference.table.debugDescription) has type \(column.type.rawValue); "
                        + "give it the type string, because ids are text", table: name, column: reference.column)
            }
        }
    }
}
