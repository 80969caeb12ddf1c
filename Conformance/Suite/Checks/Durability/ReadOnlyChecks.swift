internal import TidelineStore

extension Check {
    /// Stores opened for reading only.
    static let durabilityReadOnly: [Check] = [
        Check(
            "DUR-050", "A store opened for reading only refuses every change with StoreError `readOnly`",
            why: "Each call that could change data must be refused: also definitions and empty deletions.",
            needs: [.openingReadOnly, .persistence]
        ) { context in
            let (store, _) = try openReadOnly(context)
            try context.expect(store.capabilities.isReadOnly, "its capabilities should say isReadOnly")
            for (what, change) in changes {
                try context.expectError(.readOnly, what) { try store.write { try change($0) } }
            }
            try context.expectError(.readOnly, "a definition") {
                try store.define([TableSchema("Other", columns: [.string("text")])])
            }
        },
        Check(
            "DUR-051", "A store opened for reading only reads everything",
            needs: [.openingReadOnly, .persistence]
        ) { context in
            let (store, state) = try openReadOnly(context)
            try context.expect(StoreState(of: store), isOneOf: [state], "the data read")
        },
        Check(
            "DUR-052", "Changes refused by a store opened for reading only have no effect",
            why: "A change that is refused only at commit may have been applied in memory or partly in the files.",
            needs: [.openingReadOnly, .persistence]
        ) { context in
            let (store, state) = try openReadOnly(context)
            for (_, change) in changes { try? store.write { try change($0) } }
            try context.expect(StoreState(of: store), isOneOf: [state], "the data read after the changes")
            try store.close()
            let again = try context.open()
            try context.expect(StoreState(of: again), isOneOf: [state], "the store reopened for writing")
        },
        Check(
            "DUR-053", "On a medium that cannot be written, every change is refused with StoreError `readOnly`",
            why: "The app can open the store for reading only, or copy it; a medium that fails would be `io`.",
            needs: [.faults, .persistence]
        ) { context in
            let state = try fill(context)
            let folder = try context.folder("store")
            let medium = ReadOnlyMedium()
            try context.observing(folder, by: medium) {
                let store: TracedStore
                do { store = try context.open() } catch let error as StoreError where error.code == .readOnly { return }
                try medium.requireOperations()
                for (what, change) in changes {
                    try context.expectError(.readOnly, what) { try store.write { try change($0) } }
                }
                try context.expect(StoreState(of: store), isOneOf: [state], "the data read on the medium")
                try store.close()
            }
            try context.expect(context.state(in: folder), isOneOf: [state], "the data once the medium can be written")
        },
        Check(
            "DUR-054", "On a medium that cannot be written, a store opened for reading only reads everything",
            why: "A store may be part of an app, or on a backup that is mounted.",
            needs: [.faults, .openingReadOnly, .persistence]
        ) { context in
            let state = try fill(context)
            let medium = ReadOnlyMedium()
            try context.observing(context.folder("store"), by: medium) {
                let store = try context.open(access: .readOnly)
                try medium.requireOperations()
                try context.expect(StoreState(of: store), isOneOf: [state], "the data read on the medium")
                try context.expectError(.readOnly, "an upsert") { try store.put([["id": "new"]], into: "Note") }
                try store.close()
            }
        },
    ]
}

/// Fills a store, closes it, and returns its content.
private func fill(_ context: CheckContext) throws -> StoreState {
    let script = CommitScript(commits: 5, seed: context.seed)
    let store = try context.open()
    for step in script.steps { try store.perform(step) }
    try store.close()
    return script.states[script.steps.count]
}

private let changes: [(String, @Sendable (TracedWriter) throws -> Void)] = [
    ("an insert", { try $0.upsert(["id": "new", "text": "new"], into: "Note") }),
    ("an update", { try $0.upsert(["id": "commit", "number": 99], into: "Note") }),
    ("a deletion by id", { try $0.delete(ids: [.string("commit")], from: "Note") }),
    ("a deletion by query", { try $0.delete(matching: TableQuery("Note")) }),
]

private func openReadOnly(_ context: CheckContext) throws -> (TracedStore, StoreState) {
    let state = try fill(context)
    return (try context.open(access: .readOnly), state)
}
