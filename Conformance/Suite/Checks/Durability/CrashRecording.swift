internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// The file calls of a store while it was created and opened, and while a script of commits ran on it.
struct CrashRecording: Sendable {
    let script: CommitScript
    let log: FileLog
    let context: CheckContext

    /// Runs a script on a new store, which is reopened after each `count` of commits; throws ``NotDecidable`` if not
    /// all file operations of the store can be observed.
    init(_ script: CommitScript, in context: CheckContext, reopeningEvery count: Int? = nil) throws {
        self.script = script
        self.context = context
        let folder = try context.folder("recorded")
        let recorder = try FileRecorder(folder)
        try context.observing(folder, by: recorder) {
            var store = try context.open("recorded")
            recorder.mark()
            for (index, step) in script.steps.enumerated() {
                try store.perform(step)
                recorder.mark()
                if let count, (index + 1).isMultiple(of: count) { store = try context.reopened(store) }
            }
            try store.close()
        }
        log = recorder.log
        try requireAllIsSeen(folder)
    }

    /// Runs a script with the given number of commits.
    init(ofCommits count: Int, in context: CheckContext) throws {
        try self.init(CommitScript(commits: count, seed: context.seed), in: context)
    }

    /// Fails unless the recording produces the same store as the actual files.
    private func requireAllIsSeen(_ folder: String) throws {
        let recorded = PowerLoss(.nothing, seed: 0).image(of: log, at: log.entries.count)
        let real = try FolderImage(reading: folder)
        guard try state(of: real) != nil else { return }
        guard let difference = try difference(recorded, real) else { return }
        throw NotDecidable(
            "the store changes its files in a way that cannot be observed, such as mapped memory: the recording "
                + "produces another store than its files (\(difference))")
    }

    private func difference(_ recorded: FolderImage, _ real: FolderImage) throws -> String? {
        guard let real = try state(of: real) else { return nil }
        guard let recorded = try state(of: recorded) else { return "it does not open" }
        return real.difference(in: recorded)
    }

    private func state(of image: FolderImage) throws -> StoreState? {
        try context.withCopy(of: image) { try? context.state(in: $0) }
    }

    // MARK: Crashes

    /// The points at which the store was opened or a commit was acknowledged, as numbers of entries.
    var acknowledgements: [Int] { log.marks }

    /// Whether the store declares that a power loss loses no acknowledged commit.
    var isFullyDurable: Bool { context.capabilities.durability == .full }

    /// Returns the allowed states after a crash at a position, as numbers of commits: all acknowledged ones, or any.
    func allowed(at position: Int, keepsAcknowledged: Bool) -> ClosedRange<Int> {
        // The first mark belongs to the opening.
        let acknowledged = max(0, log.marks(before: position) - 1)
        let begun = min(script.steps.count, log.marks.contains(position) ? acknowledged : acknowledged + 1)
        return (keepsAcknowledged ? acknowledged : 0)...max(begun, acknowledged)
    }

    /// Describes a crash for a message.
    func description(_ loss: PowerLoss, at position: Int) -> String {
        let operation = position == 0 ? "before the first file call" : "after \(log.entries[position - 1].operation)"
        let acknowledged = max(0, log.marks(before: position) - 1)
        return """
            power was lost \(operation) (call \(position) of \(log.entries.count)), with \(acknowledged) commits \
            acknowledged; \(loss.extent.description)
            """
    }
}

extension CheckContext {
    /// Runs `body` while the harness reports the file calls in a directory to an observer.
    func observing<T>(_ folder: String, by observer: any FileObserver, _ body: () throws -> T) throws -> T {
        guard let faults = harness.faults else { throw HarnessError("the harness cannot observe file calls") }
        return try faults.observing(folder, by: observer, body)
    }

    /// Runs `body` with a directory that contains these files, and removes it.
    func withCopy<T>(of image: FolderImage, _ body: (_ folder: String) throws -> T) throws -> T {
        let folder = try folder("crash-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try image.write(to: folder)
        return try body(folder)
    }
}

extension CrashRecording {
    /// Fails unless the store opens after a power loss and holds the state after some commit.
    ///
    /// - Parameters:
    ///   - extent: The extent of the loss of unsynced data.
    ///   - count: The number of losses per round.
    ///   - range: The range of file calls; by default, all.
    ///   - keepsAcknowledged: Whether all acknowledged commits must be present.
    ///   - goesOn: Additional operations on the store with its state.
    func expectSurvival(
        _ extent: PowerLoss.Extent, count: Int, in range: ClosedRange<Int>? = nil, keepsAcknowledged: Bool = false,
        goesOn: (_ store: any LocalStore, _ state: StoreState, _ folder: String) throws -> Void = { _, _, _ in }
    ) throws {
        var chance = SplitMix64(seed: context.seed &+ 0x9E37)
        let range = range ?? 0...log.entries.count
        let marked = acknowledgements.filter(range.contains)
        for round in 0..<count * context.rounds {
            // Every other loss occurs at an acknowledgement, where a lost commit is detected.
            let isMarked = round.isMultiple(of: 2) && !marked.isEmpty
            let position =
                isMarked ? marked[Int.random(in: marked.indices, using: &chance)] : .random(in: range, using: &chance)
            let loss = PowerLoss(extent, seed: chance.next())
            try expectSurvival(loss, at: position, keepsAcknowledged: keepsAcknowledged, goesOn: goesOn)
        }
    }

    /// Fails unless the store opens after a power loss and holds the state after some commit.
    func expectSurvival(
        _ loss: PowerLoss, at position: Int, keepsAcknowledged: Bool,
        goesOn: (_ store: any LocalStore, _ state: StoreState, _ folder: String) throws -> Void = { _, _, _ in }
    ) throws {
        let allowed = allowed(at: position, keepsAcknowledged: keepsAcknowledged)
        try context.withCopy(of: loss.image(of: log, at: position)) { folder in
            do {
                try context.withStore(in: folder) { store in
                    let number = try expect(StoreState(of: store), isAmong: allowed)
                    try expectIndexesAgree(in: store, with: script.states[number])
                    try goesOn(store, script.states[number], folder)
                }
            } catch let failure as CheckFailure {
                throw CheckFailure("\(description(loss, at: position)): \(failure.message)")
            } catch let error as StoreError {
                throw CheckFailure("\(description(loss, at: position)): the store cannot be opened or read: \(error)")
            }
        }
    }

    /// Fails unless a store that loses power during recovery from a power loss keeps its state: after `count` losses of
    /// each extent per round, each with one second loss of each extent.
    func expectRecovery(surviving extents: [PowerLoss.Extent], count: Int) throws {
        var chance = SplitMix64(seed: context.seed &+ 1)
        for extent in extents {
            for _ in 0..<count * context.rounds {
                let position = Int.random(in: 0...log.entries.count, using: &chance)
                let loss = PowerLoss(extent, seed: chance.next())
                let image = loss.image(of: log, at: position)
                let (recovery, state) = try recover(image)
                for second in extents {
                    let place = Int.random(in: recovery.marks[0]...recovery.entries.count, using: &chance)
                    let again = PowerLoss(second, seed: chance.next()).image(of: recovery, at: place)
                    try expect(again, holds: state, "\(description(loss, at: position)); then a second power loss")
                }
            }
        }
    }

    /// Opens the store that a crash left. Returns its file calls and its state.
    private func recover(_ image: FolderImage) throws -> (FileLog, StoreState) {
        try context.withCopy(of: image) { folder in
            let recorder = try FileRecorder(folder)
            recorder.mark()
            let state = try context.observing(folder, by: recorder) {
                let store = try context.harness.open(StoreOpening(directory: folder))
                defer { try? store.close() }
                return try StoreState(of: store)
            }
            return (recorder.log, state)
        }
    }

    private func expect(_ image: FolderImage, holds state: StoreState, _ what: String) throws {
        do {
            let found = try context.withCopy(of: image) { try context.state(in: $0) }
            try context.expect(found, isOneOf: [state], "\(what), while the store was opened and closed")
        } catch let error as StoreError {
            throw CheckFailure("\(what), while the store was opened and closed: it cannot be opened or read: \(error)")
        }
    }

    /// Returns the number of commits whose state a store holds; fails if the state is not allowed.
    private func expect(_ state: StoreState, isAmong allowed: ClosedRange<Int>) throws -> Int {
        let last = state.lastCommit
        let likely = [last, last + 1].filter(script.states.indices.contains)
        let candidates = likely + script.states.indices.filter { !likely.contains($0) }
        guard let number = candidates.first(where: { script.states[$0].difference(in: state) == nil }) else {
            let nearest = script.states[likely.first ?? allowed.upperBound]
            throw CheckFailure(
                "the store holds a state that never existed: with commit \(last) as its last one, "
                    + "\(nearest.difference(in: state) ?? "")")
        }
        guard allowed.contains(number) else {
            throw CheckFailure(
                "the store holds the state after \(number) commits, expected after "
                    + (allowed.count == 1 ? "\(allowed.lowerBound)" : "\(allowed.lowerBound) to \(allowed.upperBound)"))
        }
        return number
    }

    /// Fails unless queries that an index may answer return the stored rows.
    private func expectIndexesAgree(in store: some LocalStore, with state: StoreState) throws {
        for schema in state.tables where !schema.indexes.isEmpty {
            let rows = try schema.packed(state.rows[schema.name] ?? [])
            for query in Self.indexedQueries(of: schema) {
                try store.read {
                    try context.expect(query, in: $0, over: rows, of: schema, "the index and the rows disagree")
                }
            }
        }
    }

    private static func indexedQueries(of schema: TableSchema) -> [TableQuery] {
        let indexed = Set(schema.indexes.compactMap(\.columns.first))
        var queries: [TableQuery] = []
        if indexed.contains("complete") {
            queries.append(TableQuery(schema.name, predicate: .column("complete") == true))
        }
        if indexed.contains("priority") { queries.append(TableQuery(schema.name, predicate: .column("priority") >= 3)) }
        if indexed.contains("number") { queries.append(TableQuery(schema.name, predicate: .column("number") >= 100)) }
        if indexed.contains("text") { queries.append(TableQuery(schema.name, predicate: .column("text") >= "")) }
        return queries
    }
}

extension StoreState {
    /// The number of the last commit of a script in this state.
    fileprivate var lastCommit: Int {
        guard let notes = rows["Note"] else { return 0 }
        guard let row = notes.first(where: { $0.id == .string("commit") }), case .int(let number)? = row["number"]
        else {
            return 1
        }
        return Int(number) + 1
    }
}
