internal import Foundation
internal import TidelineStore

/// A store's file calls while it was made, opened, and a script of commits was run on it.
struct CrashRecording: Sendable {
    let script: CommitScript
    let log: FileLog
    let trial: Trial

    /// Runs a script on a new store.
    ///
    /// - Parameter count: After how many commits the store is closed and opened again; never, if there is none.
    /// - Throws: ``NotDecidable`` when not everything that the store does to its files is seen.
    init(_ script: CommitScript, in trial: Trial, reopeningEvery count: Int? = nil) throws {
        self.script = script
        self.trial = trial
        let folder = try trial.folder("recorded")
        let recorder = try FileRecorder(folder)
        try trial.observing(folder, by: recorder) {
            var store = try trial.open("recorded")
            recorder.mark()
            for (index, step) in script.steps.enumerated() {
                try store.perform(step)
                recorder.mark()
                if let count, (index + 1).isMultiple(of: count) { store = try trial.reopened(store, in: "recorded") }
            }
            try store.close()
        }
        log = recorder.log
        try requireAllIsSeen(folder)
    }

    /// Fails unless what was recorded makes the same store as the files there are.
    private func requireAllIsSeen(_ folder: String) throws {
        let recorded = PowerLoss(.nothing, seed: 0).image(of: log, at: log.entries.count)
        let real = try FolderImage(reading: folder)
        guard try state(of: real) != nil else { return }
        guard let difference = try difference(recorded, real) else { return }
        throw NotDecidable(
            "the store reaches its files in a way that is not seen, such as mapped memory: what was recorded "
                + "makes another store than its files do (\(difference))")
    }

    private func difference(_ recorded: FolderImage, _ real: FolderImage) throws -> String? {
        guard let real = try state(of: real) else { return nil }
        guard let recorded = try state(of: recorded) else { return "it does not open" }
        return real.difference(in: recorded)
    }

    private func state(of image: FolderImage) throws -> StoreState? {
        try trial.withCopy(of: image) { try? trial.state(in: $0) }
    }

    // MARK: Crashes

    /// The moments at which a store was opened or a commit was acknowledged, as numbers of entries.
    var acknowledgements: [Int] { log.marks }

    /// Which states may be there after a crash at a place: how many commits.
    ///
    /// - Parameter keepsAcknowledged: Whether all that was acknowledged has to be there, or any number of commits.
    func allowed(at position: Int, keepsAcknowledged: Bool) -> ClosedRange<Int> {
        // The first mark is of the opening.
        let acknowledged = max(0, log.marks(before: position) - 1)
        let begun = min(script.steps.count, log.marks.contains(position) ? acknowledged : acknowledged + 1)
        return (keepsAcknowledged ? acknowledged : 0)...max(begun, acknowledged)
    }

    /// What a crash was, for a message.
    func description(_ loss: PowerLoss, at position: Int) -> String {
        let operation = position == 0 ? "before the first file call" : "after \(log.entries[position - 1].operation)"
        let acknowledged = max(0, log.marks(before: position) - 1)
        return """
            the power went \(operation) (call \(position) of \(log.entries.count)), with \(acknowledged) commits \
            acknowledged; \(loss.extent.description)
            """
    }
}

extension Trial {
    /// Runs `body` while the harness's layer tells an observer of a folder's files.
    func observing<T>(_ folder: String, by observer: any FileObserver, _ body: () throws -> T) throws -> T {
        guard let faults = harness.faults else { throw KitError("the harness has no layer around file calls") }
        return try faults.observing(folder, by: observer, body)
    }

    /// Runs `body` with a folder that has these files, and removes it.
    func withCopy<T>(of image: FolderImage, _ body: (_ folder: String) throws -> T) throws -> T {
        let folder = try folder("crash-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try image.write(to: folder)
        return try body(folder)
    }
}
