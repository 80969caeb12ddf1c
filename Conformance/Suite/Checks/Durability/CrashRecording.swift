internal import Foundation
internal import TidelineStore

/// The file calls of a store while it was created and opened, and while a script of commits ran on it.
struct CrashRecording: Sendable {
    let script: CommitScript
    let log: FileLog
    let context: CheckContext

    /// Runs a script on a new store.
    ///
    /// - Parameter count: The number of commits after which the store is closed and reopened, or `nil` for never.
    /// - Throws: ``NotDecidable`` if not all file operations of the store can be observed.
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
                if let count, (index + 1).isMultiple(of: count) { store = try context.reopened(store, in: "recorded") }
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
