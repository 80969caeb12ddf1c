internal import TidelineStore

extension Script {
    /// Scripts with one step, change, table, or row less, or with a row of fewer columns.
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
        case .reopen, .hold, .release: []
        case .define(let schemas):
            schemas.withoutRuns.map { .define($0()) } + schemas.each(\.smaller).map { .define($0) }
        case .write(let changes, let commits):
            changes.withoutRuns.map { .write($0(), commits: commits) }
                + changes.each(\.smaller).map { .write($0, commits: commits) }
        }
    }
}

extension Script.Change {
    fileprivate var smaller: [Script.Change] {
        switch self {
        case .delete(let ids, let table): ids.withoutRuns.map { .delete($0(), from: table) }
        case .deleteMatching(let query): query.simpler.map { .deleteMatching($0) }
        case .look(let query): query.simpler.map { .look($0) }
        case .upsert(let rows, let table): rows.smaller.map { .upsert($0, into: table) }
        case .attempt(let rows, let table):
            [.upsert(rows, into: table)] + rows.smaller.map { .attempt($0, into: table) }
        }
    }
}

extension TableSchema {
    /// This definition without one index, one column that is not indexed, or its system columns.
    fileprivate var smaller: [TableSchema] {
        func with(_ change: (inout TableSchema) -> Void) -> TableSchema {
            var copy = self
            change(&copy)
            return copy
        }
        let indexed = Set(indexes.flatMap(\.columns))
        let isPlain = systemColumns.isEmpty || systemColumns.columns.contains { indexed.contains($0.name) }
        return indexes.withoutRuns.map { indexes in with { $0.indexes = indexes() } }
            + columns.filter { !indexed.contains($0.name) }.map { column in
                with { $0.columns.removeAll { $0.name == column.name } }
            }
            + (isPlain ? [] : [with { $0.systemColumns = [] }])
    }
}

extension [Row] {
    /// Fewer rows; for a single row, fewer columns and shorter values.
    fileprivate var smaller: [[Row]] {
        let fewer = withoutRuns.map { $0() }
        guard count == 1, let row = first else { return fewer }
        let narrower = row.columnNames.map { name in [row.filteringColumns { $0 != name }] }
        let shorter = row.values.filter { $0.value.isLong }.map { column in
            var copy = row
            copy[column.name] = .string("a")
            return [copy]
        }
        return fewer + narrower + shorter
    }
}

extension Value {
    fileprivate var isLong: Bool { string.map { $0.utf8.count > 20 } ?? false }
}

extension Array {
    /// Returns copies of this array with one element replaced, for each element and each of its replacements.
    fileprivate func each(_ replacements: (Element) -> [Element]) -> [[Element]] {
        indices.flatMap { index in
            replacements(self[index]).map { replacement in
                var copy = self
                copy[index] = replacement
                return copy
            }
        }
    }
}
