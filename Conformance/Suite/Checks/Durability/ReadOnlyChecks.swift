internal import TidelineStore

extension Check {
    /// Stores that are opened for reading only.
    static let durabilityReadOnly: [Check] = [
        Check(
            "DUR-050", "A store opened for reading only refuses every change with StoreError `readOnly`",
            why:
                "Each call that changes anything has to refuse: a definition and an empty deletion as well as an upsert.",
            needs: [.openingReadOnly, .persistence]
        ) { trial in
            let (store, _) = try openReadOnly(trial)
            try trial.expect(store.capabilities.isReadOnly, "its capabilities should say isReadOnly")
            for (what, change) in changes {
                try trial.expectError(.readOnly, what) { try store.write { try change($0) } }
            }
            try trial.expectError(.readOnly, "a definition") {
                try store.define([TableSchema("Other", columns: [.string("text")])])
            }
        },
        Check(
            "DUR-051", "A store opened for reading only reads everything",
            needs: [.openingReadOnly, .persistence]
        ) { trial in
            let (store, state) = try openReadOnly(trial)
            try trial.expect(StoreState(of: store), isOneOf: [state], "what is read")
        },
        Check(
            "DUR-052", "Changes that a store opened for reading only refused are nowhere to be seen",
            why: "A change that is refused when it is committed may have been made in memory, or in part in the files.",
            needs: [.openingReadOnly, .persistence]
        ) { trial in
            let (store, state) = try openReadOnly(trial)
            for (_, change) in changes { try? store.write { try change($0) } }
            try trial.expect(StoreState(of: store), isOneOf: [state], "what is read after the changes")
            try store.close()
            let again = try trial.open()
            try trial.expect(StoreState(of: again), isOneOf: [state], "the store opened for writing again")
        },
    ]
}

private let changes: [(String, @Sendable (TracedWriter) throws -> Void)] = [
    ("an insert", { try $0.upsert(["id": "new", "text": "new"], into: "Note") }),
    ("an update", { try $0.upsert(["id": "commit", "number": 99], into: "Note") }),
    ("a deletion by id", { try $0.delete(ids: [.string("commit")], from: "Note") }),
    ("a deletion by query", { try $0.delete(matching: Query("Note")) }),
]

private func openReadOnly(_ trial: Trial) throws -> (TracedStore, StoreState) {
    let script = CommitScript(commits: 5, seed: trial.seed)
    let store = try trial.open()
    for step in script.steps { try store.perform(step) }
    try store.close()
    return (try trial.open(access: .readOnly), script.states[script.steps.count])
}
