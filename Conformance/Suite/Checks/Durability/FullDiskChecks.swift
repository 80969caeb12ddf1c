internal import Foundation
internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Full disks and full stores.
    static let durabilityFull: [Check] = [
        Check(
            "DUR-040", "On a full disk a write throws StoreError `full`",
            why: "The app can free space and retry if it knows that space is the problem.",
            needs: [.faults, .persistence]
        ) { context in
            try FullDisk(context).run { disk, store in
                let error = try disk.fill(store)
                try context.expect(error.code == .full, "expected StoreError full, but got \(error)")
            }
        },
        Check(
            "DUR-041", "A write interrupted by a full disk leaves no changes, and reads still work",
            why: "The disk may become full after the first pages of the transaction and before the last ones.",
            needs: [.faults, .persistence]
        ) { context in
            try FullDisk(context).run { disk, store in
                _ = try disk.fill(store)
                try context.expect(StoreState(of: store), isOneOf: [disk.state], "the data read on the full disk")
            }
        },
        Check(
            "DUR-042", "After space is freed on a full disk, writes succeed in the open store",
            why: "An app should not need to restart because a disk was full temporarily.",
            needs: [.faults, .persistence]
        ) { context in
            try FullDisk(context).run { disk, store in
                _ = try disk.fill(store)
                disk.makeRoom()
                for _ in 0..<3 { try disk.commit(to: store) }
                try context.expect(StoreState(of: store), isOneOf: [disk.state], "data read after three more commits")
            }
        },
        Check(
            "DUR-043", "A store that encountered a full disk has every acknowledged commit after reopening",
            why: "Remains of a failed commit in the files must not be read, nor hide later commits.",
            needs: [.faults, .persistence]
        ) { context in
            let disk = try FullDisk(context)
            try disk.run { disk, store in
                for _ in 0..<3 {
                    _ = try disk.fill(store)
                    disk.makeRoom()
                    try disk.commit(to: store)
                }
            }
            try context.expect(context.state(in: disk.folder), isOneOf: [disk.state], "the store reopened")
        },
        Check(
            "DUR-044", "A definition interrupted by a full disk throws `full` and leaves tables and rows unchanged",
            why: "Building an index needs space: if it fails, neither a partial index nor a partial table may remain.",
            needs: [.faults, .persistence]
        ) { context in
            try FullDisk(context).run { disk, store in
                for _ in 0..<20 { try disk.commit(to: store) }
                let error = try disk.failDefining(in: store)
                try context.expect(error.code == .full, "expected StoreError full, but got \(error)")
                try context.expect(StoreState(of: store), isOneOf: [disk.state], "after the failed definition")
            }
        },
        Check(
            "DUR-045", "A store with a size limit throws StoreError `full` at the limit and rolls back",
            why: "A map of a fixed size can be full while the disk is not; the error must not be corrupt.",
            needs: [.limitedSize, .persistence]
        ) { context in
            let small = try SmallStore(context)
            try small.fill()
            try context.expect(StoreState(of: small.store), isOneOf: [small.state], "the data read in the full store")
        },
        Check(
            "DUR-046", "A full store works again after rows were deleted",
            why: "Deleting needs space itself in some engines, and the space of deleted rows must be reusable.",
            needs: [.limitedSize, .persistence]
        ) { context in
            let small = try SmallStore(context)
            try small.fill()
            try small.deleteMost()
            for _ in 0..<3 { try small.commit() }
            try context.expect(
                StoreState(of: small.store), isOneOf: [small.state], "the data read after three more commits")
        },
    ]
}

/// A store on a disk with little free space.
private final class FullDisk {
    /// Less than one commit requires.
    private static let leastRoom = 600
    /// The number of commits, several megabytes, after which the growth of the files should have been observed.
    private static let mostCommits = 200

    let folder: String
    private(set) var state = StoreState()
    private let context: CheckContext
    private let disk = SmallDisk(room: .max / 2)
    private var script: CommitScript

    init(_ context: CheckContext) throws {
        self.context = context
        folder = try context.folder("full")
        script = CommitScript(commits: 3, seed: context.seed)
    }

    /// Opens the store with some commits and runs `body` on it.
    func run(_ body: (FullDisk, any LocalStore) throws -> Void) throws {
        try context.observing(folder, by: disk) {
            let store = try context.open("full")
            defer {
                makeRoom()
                try? store.close()
            }
            for step in script.steps { try store.perform(step) }
            state = script.states[script.steps.count]
            try body(self, store)
        }
    }

    /// Frees space on the disk.
    func makeRoom() { disk.set(room: .max / 2) }

    /// Commits some rows.
    func commit(to store: some LocalStore) throws {
        script.change(rows: 8, longest: 2_000, ids: 100_000)
        guard let step = script.steps.last else { return }
        try store.perform(step)
        state = state.applying(step)
    }

    /// Leaves little space and commits until it is used up.
    func fill(_ store: some LocalStore) throws -> StoreError {
        disk.set(room: FullDisk.leastRoom)
        for _ in 0..<FullDisk.mostCommits {
            do { try commit(to: store) } catch let error as StoreError { return error }
        }
        throw NotDecidable("no growth of the store's files is observed as rows are added")
    }

    /// Leaves no space and defines a table with an index over existing rows.
    func failDefining(in store: some LocalStore) throws -> StoreError {
        disk.set(room: 0)
        var chance = SplitMix64(seed: context.seed)
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
        throw NotDecidable("no growth of the store's files is observed as tables are added")
    }
}

/// A store with a limited size.
private final class SmallStore {
    private static let size = 1 << 20

    let store: TracedStore
    private(set) var state: StoreState
    private let context: CheckContext
    private var script: CommitScript
    private static let ids = 4_000

    init(_ context: CheckContext) throws {
        self.context = context
        script = CommitScript(commits: 1, seed: context.seed)
        store = try context.open("small", maximumSize: SmallStore.size)
        for step in script.steps { try store.perform(step) }
        state = script.states[script.steps.count]
    }

    /// Commits some rows.
    func commit() throws {
        script.change(rows: 10, longest: 2_000, ids: SmallStore.ids)
        guard let step = script.steps.last else { return }
        try store.perform(step)
        state = state.applying(step)
    }

    /// Commits until no space is left.
    func fill() throws {
        // Each commit has 10 KB on average.
        for _ in 0..<SmallStore.size / 1_000 {
            do {
                try commit()
            } catch let error as StoreError {
                return try context.expect(error.code == .full, "expected StoreError full, but got \(error)")
            }
        }
        throw CheckFailure("a store with a limit of \(SmallStore.size) bytes accepted ten times as much")
    }

    /// Deletes all but some rows of the table, a few at a time.
    func deleteMost() throws {
        let ids = (state.rows["TodoItem"] ?? []).compactMap(\.id).dropLast(5)
        for start in stride(from: 0, to: ids.count, by: 5) {
            let change = TableChange(table: "TodoItem", deleted: Array(ids.dropFirst(start).prefix(5)))
            try store.commit([change])
            state.apply(change)
        }
    }
}
