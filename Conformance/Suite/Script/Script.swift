internal import Foundation
internal import TidelineStore

/// A sequence of store operations: generated from a seed, run beside a model, shrunk, and printed as Swift.
struct Script: Sendable {
    /// One call within a write.
    enum Change: Sendable {
        case upsert([Row], into: String)
        /// An upsert whose error the body catches.
        case attempt([Row], into: String)
        case delete([RowID], from: String)
        case deleteMatching(TableQuery)
        /// A query within the write.
        case look(TableQuery)
    }

    /// One step.
    enum Step: Sendable {
        case define([TableSchema])
        /// Changes in one write, which throws at its end if it does not commit.
        case write([Change], commits: Bool)
        /// The store is closed and reopened if it keeps its rows.
        case reopen
        /// Another thread begins a read, unless one is already open.
        case hold
        /// That read ends.
        case release
    }

    var steps: [Step]
}

/// The environment of scripts: stores of one kind, empty for each script.
struct ScriptStage: Sendable {
    /// Opens the store in a directory, or creates an empty one there.
    let open: @Sendable (_ directory: String) throws -> any LocalStore
    /// The directory that contains a directory for each script.
    let directory: String
    let capabilities: StoreCapabilities
    /// The maximum time in seconds that one thread waits for another.
    let patience: Double

    init(
        directory: String, capabilities: StoreCapabilities, patience: Double,
        open: @escaping @Sendable (_ directory: String) throws -> any LocalStore
    ) {
        self.directory = directory
        self.capabilities = capabilities
        self.patience = patience
        self.open = open
    }

    init(_ context: CheckContext) {
        self.init(directory: context.directory, capabilities: context.capabilities, patience: context.patience) {
            directory in
            try context.harness.open(StoreOpening(directory: directory))
        }
    }

    /// A model in the state of a new store.
    var emptyModel: StoreModel { StoreModel(maximumIDLength: capabilities.maximumIDLength) }

    /// Calls `body` with a directory that exists until it returns.
    func withFolder<T>(_ body: (String) throws -> T) throws -> T {
        let path = "\(directory)/\(UUID().uuidString)"
        try CheckFolder.make(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}

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
