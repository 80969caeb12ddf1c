internal import Foundation
internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Disks and stores that are full.
    static let durabilityFull: [Check] = [
        Check(
            "DUR-040", "On a full disk a write throws StoreError `full`",
            why: "The app can make room and try again, if it learns that this is what is needed.",
            needs: [.faults, .persistence]
        ) { trial in
            try FullDisk(trial).run { disk, store in
                let error = try disk.fill(store)
                try trial.expect(error.code == .full, "expected StoreError full, thrown was \(error)")
            }
        },
        Check(
            "DUR-041", "A write that a full disk stops leaves nothing of itself, and reads go on",
            why: "Full is when the transaction's first pages are written and its last ones are not.",
            needs: [.faults, .persistence]
        ) { trial in
            try FullDisk(trial).run { disk, store in
                _ = try disk.fill(store)
                try trial.expect(StoreState(of: store), isOneOf: [disk.state], "what is read on the full disk")
            }
        },
        Check(
            "DUR-042", "After room is made on a full disk, writes go on in the open store",
            why: "An app cannot be asked to start anew because a disk was full for a moment.",
            needs: [.faults, .persistence]
        ) { trial in
            try FullDisk(trial).run { disk, store in
                _ = try disk.fill(store)
                disk.makeRoom()
                for _ in 0..<3 { try disk.commit(to: store) }
                try trial.expect(StoreState(of: store), isOneOf: [disk.state], "what is read after three more commits")
            }
        },
        Check(
            "DUR-043", "A store that met a full disk has every commit that was acknowledged when it is opened again",
            why: "What a failed commit left in the files must not be read again, nor hide what came after it.",
            needs: [.faults, .persistence]
        ) { trial in
            let disk = try FullDisk(trial)
            try disk.run { disk, store in
                for _ in 0..<3 {
                    _ = try disk.fill(store)
                    disk.makeRoom()
                    try disk.commit(to: store)
                }
            }
            try trial.expect(trial.state(in: disk.folder), isOneOf: [disk.state], "the store opened again")
        },
        Check(
            "DUR-044", "A definition that a full disk stops throws `full`, and leaves tables and rows as they were",
            why: "Filling an index takes room: where it ends, neither the index nor the table may be there in part.",
            needs: [.faults, .persistence]
        ) { trial in
            try FullDisk(trial).run { disk, store in
                for _ in 0..<20 { try disk.commit(to: store) }
                let error = try disk.failDefining(in: store)
                try trial.expect(error.code == .full, "expected StoreError full, thrown was \(error)")
                try trial.expect(
                    StoreState(of: store), isOneOf: [disk.state], "what there is after the failed definition")
            }
        },
        Check(
            "DUR-045", "A store that may not grow beyond a size throws StoreError `full` there, and rolls back",
            why: "A map of a fixed size is full while the disk is not; the app must not be told of damage.",
            needs: [.limitedSize, .persistence]
        ) { trial in
            let small = try SmallStore(trial)
            try small.fill()
            try trial.expect(StoreState(of: small.store), isOneOf: [small.state], "what is read in the full store")
        },
        Check(
            "DUR-046", "A store that is full goes on after rows were deleted",
            why: "Deleting takes room itself in some engines; what is deleted must be had again.",
            needs: [.limitedSize, .persistence]
        ) { trial in
            let small = try SmallStore(trial)
            try small.fill()
            try small.deleteMost()
            for _ in 0..<3 { try small.commit() }
            try trial.expect(
                StoreState(of: small.store), isOneOf: [small.state], "what is read after three more commits")
        },
    ]
}

/// A store on a disk with little room.
private final class FullDisk {
    /// Less than one commit takes.
    private static let leastRoom = 600
    /// After so many, megabytes, nothing of the files' growth is seen.
    private static let mostCommits = 200

    let folder: String
    private(set) var state = StoreState()
    private let trial: Trial
    private let disk = SmallDisk(room: .max / 2)
    private var script: CommitScript

    init(_ trial: Trial) throws {
        self.trial = trial
        folder = try trial.folder("full")
        script = CommitScript(commits: 3, seed: trial.seed)
    }

    /// Opens the store, with some commits, and runs `body` on it.
    func run(_ body: (FullDisk, any LocalStore) throws -> Void) throws {
        try trial.observing(folder, by: disk) {
            let store = try trial.open("full")
            defer {
                makeRoom()
                try? store.close()
            }
            for step in script.steps { try store.perform(step) }
            state = script.states[script.steps.count]
            try body(self, store)
        }
    }

    /// Gives the disk room again.
    func makeRoom() { disk.set(room: .max / 2) }

    /// Makes a commit of some rows.
    func commit(to store: some LocalStore) throws {
        script.change(rows: 8, longest: 2_000, ids: 100_000)
        guard let step = script.steps.last else { return }
        try store.perform(step)
        state = state.applying(step)
    }

    /// Leaves little room, and commits until there is none.
    func fill(_ store: some LocalStore) throws -> StoreError {
        disk.set(room: FullDisk.leastRoom)
        for _ in 0..<FullDisk.mostCommits {
            do { try commit(to: store) } catch let error as StoreError { return error }
        }
        throw NotDecidable("no growth of the store's files is seen as rows are added")
    }

    /// Leaves no room, and defines a table with an index over the rows there are.
    func failDefining(in store: some LocalStore) throws -> StoreError {
        disk.set(room: 0)
        var chance = SplitMix64(seed: trial.seed)
        for _ in 0..<FullDisk.mostCommits {
            let table = TableSchema("Table\(chance.next())", columns: [.string("name")], indexes: [["name"]])
            var items = TableSchema.items
            items.indexes = [["complete", "due"], ["priority"], ["text"]]
            do {
                try store.define([items, table])
                state.define(items)
                state.define(table)
            } catch let error as StoreError { return error }
        }
        throw NotDecidable("no growth of the store's files is seen as tables are added")
    }
}

/// A store that may not become large.
private final class SmallStore {
    private static let size = 1 << 20

    let store: TracedStore
    private(set) var state: StoreState
    private let trial: Trial
    private var script: CommitScript
    private static let ids = 4_000

    init(_ trial: Trial) throws {
        self.trial = trial
        script = CommitScript(commits: 1, seed: trial.seed)
        store = try trial.open("small", maximumSize: SmallStore.size)
        for step in script.steps { try store.perform(step) }
        state = script.states[script.steps.count]
    }

    /// Makes a commit of some rows.
    func commit() throws {
        script.change(rows: 10, longest: 2_000, ids: SmallStore.ids)
        guard let step = script.steps.last else { return }
        try store.perform(step)
        state = state.applying(step)
    }

    /// Commits until there is no room.
    func fill() throws {
        // Each commit is of 10 KB on average.
        for _ in 0..<SmallStore.size / 1_000 {
            do {
                try commit()
            } catch let error as StoreError {
                return try trial.expect(error.code == .full, "expected StoreError full, thrown was \(error)")
            }
        }
        throw CheckFailure("a store of \(SmallStore.size) bytes at most took ten times that")
    }

    /// Deletes all rows of the table but some, a few at a time.
    func deleteMost() throws {
        let ids = (state.rows["TodoItem"] ?? []).compactMap(\.key).dropLast(5)
        for start in stride(from: 0, to: ids.count, by: 5) {
            let change = TableChange(table: "TodoItem", deleted: Array(ids.dropFirst(start).prefix(5)))
            try store.commit([change])
            state.apply(change)
        }
    }
}
