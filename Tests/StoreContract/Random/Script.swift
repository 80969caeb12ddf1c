import TidelineStore
import TidelineConformance

/// What is done to a store, step by step.
struct Script {
    /// One change within a write.
    enum Change {
        case upsert([Row])
        case delete([RowID])
        case deleteMatching(Query)
    }

    /// One step.
    enum Step {
        case define(TableSchema)
        /// Changes in one write, which throws at its end if it does not commit.
        case write([Change], commits: Bool)
        /// The store is closed and opened again, where that keeps it.
        case reopen
    }

    static let table = "Item"

    var steps: [Step]

    /// Scripts with a step, a change or a row less, or with a row of fewer columns.
    var smaller: [() -> Script] {
        let fewerSteps = steps.withoutRuns.map { steps in { Script(steps: steps()) } }
        let smallerSteps = steps.indices.flatMap { index in
            steps[index].smaller.map { step in
                {
                    var copy = self
                    copy.steps[index] = step
                    return copy
                }
            }
        }
        return fewerSteps + smallerSteps
    }
}

extension Script.Step {
    fileprivate var smaller: [Script.Step] {
        switch self {
        case .reopen: return []
        case .define(let schema):
            let fewerIndexes = schema.indexes.withoutRuns.map { indexes in
                var copy = schema
                copy.indexes = indexes()
                return Script.Step.define(copy)
            }
            let indexed = Set(schema.indexes.flatMap(\.columns))
            let fewerColumns = schema.columns.filter { !indexed.contains($0.name) }.map { column in
                var copy = schema
                copy.columns.removeAll { $0.name == column.name }
                return Script.Step.define(copy)
            }
            return fewerIndexes + fewerColumns
        case .write(let changes, let commits):
            let fewer = changes.withoutRuns.map { Script.Step.write($0(), commits: commits) }
            let smaller = changes.indices.flatMap { index in
                changes[index].smaller.map { change in
                    var copy = changes
                    copy[index] = change
                    return Script.Step.write(copy, commits: commits)
                }
            }
            return fewer + smaller
        }
    }
}

extension Script.Change {
    fileprivate var smaller: [Script.Change] {
        switch self {
        case .delete(let ids): return ids.withoutRuns.map { .delete($0()) }
        case .deleteMatching(let query): return query.simpler.map { .deleteMatching($0) }
        case .upsert(let rows):
            let fewer = rows.withoutRuns.map { Script.Change.upsert($0()) }
            guard rows.count == 1, let row = rows.first else { return fewer }
            return row.columnNames.map { name in .upsert([row.filteringColumns { $0 != name }]) }
        }
    }
}

// MARK: - As Swift

extension Script: CustomStringConvertible {
    /// The script as Swift.
    var description: String { steps.map(\.swiftSource).joined(separator: "\n") }
}

extension Script.Step: SwiftSource {
    var swiftSource: String {
        switch self {
        case .define(let schema): return "try store.define([\(schema.swiftSource)])"
        case .reopen: return "// close and open again"
        case .write(let changes, let commits):
            let lines = changes.map { "    \($0.swiftSource)\n" } + (commits ? [] : ["    throw RollBack()\n"])
            return "try store.write { writer in\n\(lines.joined())}"
        }
    }
}

extension Script.Change: SwiftSource {
    var swiftSource: String {
        switch self {
        case .upsert(let rows): "try writer.upsert(\(rows.swiftSource), into: \"\(Script.table)\")"
        case .delete(let ids): "try writer.delete(ids: \(ids.swiftSource), from: \"\(Script.table)\")"
        case .deleteMatching(let query): "try writer.delete(matching: \(query.swiftSource))"
        }
    }
}
