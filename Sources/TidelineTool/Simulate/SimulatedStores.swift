#if Tool
internal import ArgumentParser
internal import Foundation
internal import Synchronization
internal import TidelineStore
internal import TidelineSupport

/// The store of each device and server, as `--store` names it: `ENGINE[,SETTING=VALUE…]`.
struct SimulatedStoreKind: Sendable {
    let text: String
    fileprivate let engine: StoreEngine
    private let settings: StoreSettings

    /// - Throws: `ValidationError` if the text does not name one store, or if a setting is unknown or invalid.
    init(parsing text: String) throws {
        let words = try StoreWord.words([text], names: Set(StoreEngine.all.map(\.name)))
        guard let word = words.first, words.count == 1 else {
            throw ValidationError("use one store for all devices and the server.")
        }
        self.text = word.text
        engine = try StoreEngine.named(word.name, among: StoreEngine.all)
        settings = try engine.checkedSettings(word.settings)
    }

    fileprivate func open(_ path: String) throws -> any LocalStore {
        try engine.makeOpener(engine.usage == nil ? "" : path, settings, StoreAccess())()
    }
}

/// The folder with the stores of all simulations, removed at the end.
final class SimulationFolder: Sendable {
    private let url: URL?
    fileprivate let kind: SimulatedStoreKind

    /// Creates the folder, unless the stores have no files.
    init(_ kind: SimulatedStoreKind) throws {
        self.kind = kind
        let temporary = FileManager.default.temporaryDirectory
        url = kind.engine.keepsRows ? temporary.appendingPathComponent("tideline-simulate-\(UUID().uuidString)") : nil
        if let url { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    }

    /// Creates a folder for one run of a schedule. Throws after ``remove()``.
    fileprivate func makeFolder() throws -> URL? {
        guard let folder = url?.appendingPathComponent(UUID().uuidString) else { return nil }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        return folder
    }

    /// Removes the folder, even while simulations run.
    func remove() {
        guard let url else { return }
        // A store can create a file while its folder is removed.
        for _ in 1...100 where FileManager.default.fileExists(atPath: url.path) {
            try? FileManager.default.removeItem(at: url)
        }
    }
}

/// The stores of one simulation. Each run of its schedule, such as one of a shorter schedule, has new stores.
final class SimulatedStores: Sendable {
    private struct State {
        var runs = 0
        var folder: URL?
    }

    private let folder: SimulationFolder
    private let state = Mutex(State())

    init(in folder: SimulationFolder) { self.folder = folder }

    /// The number of runs that have begun. There is more than one only after a violation.
    var runs: Int { state.withLock { $0.runs } }

    /// Opens the store of a device or of the server, which is the first of a run.
    func open(_ name: String) throws -> any LocalStore {
        try state.withLock { state in
            if name.hasPrefix("server") {
                endRun(&state)
                state.runs += 1
                state.folder = try folder.makeFolder()
            }
            return try folder.kind.open(state.folder?.appendingPathComponent(name).path ?? "")
        }
    }

    /// Removes all files.
    func end() { state.withLock { endRun(&$0) } }

    private func endRun(_ state: inout State) {
        if let folder = state.folder { try? FileManager.default.removeItem(at: folder) }
        state.folder = nil
    }
}
#endif
