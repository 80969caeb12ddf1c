internal import CFileCalls
internal import Foundation
internal import Synchronization
public import TidelineConformance

/// Observes file calls by interposing the C library's functions in the executable that links this library: calls from
/// its own code and from all shared libraries, including SQLite, LMDB, LevelDB, and Foundation.
///
/// ```swift
/// StoreHarness(modes: [], faults: InterposedFiles()) { opening in try MyStore(directory: opening.directory) }
/// ```
///
/// Operations that bypass the C library's functions are not observed: writes to mapped memory, to `FILE` streams, and
/// through `io_uring`. Checks of a store that uses them end as *not run*, with this reason.
///
/// Available on Linux with glibc, without a sanitizer. Elsewhere ``isAvailable`` is `false` and no function is
/// replaced.
public struct InterposedFiles: FileFaults {
    /// Creates an instance; all instances are equivalent.
    public init() {}

    public var isAvailable: Bool { tideline_can_observe_files() }

    public func observing<T>(
        _ directory: String, by observer: any FileObserver, _ body: () throws -> T
    ) throws -> T {
        let watch = Watch(directory: directory, observer: observer)
        Watch.begin(watch)
        defer { Watch.end(watch) }
        return try body()
    }
}

/// An observed directory.
private final class Watch: Sendable {
    let directory: String
    let observer: any FileObserver

    /// All observed directories, because checks run concurrently.
    private static let all = Mutex<[Watch]>([])

    init(directory: String, observer: any FileObserver) {
        self.directory = directory
        self.observer = observer
    }

    static func begin(_ watch: Watch) {
        all.withLock { $0.append(watch) }
        tideline_begin_observing_files(callbacks.pointer)
    }

    static func end(_ watch: Watch) {
        tideline_end_observing_files()
        all.withLock { $0.removeAll { $0 === watch } }
    }

    /// Returns the watch for the directory that a call concerns.
    static func of(_ call: tideline_file_call) -> Watch? {
        let paths = [call.path, call.destination].compactMap { $0 }
        return all.withLock { watches in
            watches.last { watch in paths.contains { watch.relative($0) != nil } }
        }
    }

    /// Returns the relative path within the directory, or `nil` for a path outside.
    func relative(_ path: UnsafePointer<CChar>) -> String? {
        let length = directory.utf8.count
        guard strncmp(path, directory, length) == 0 else { return nil }
        if path[length] == 0 { return "" }
        return path[length] == CChar(UInt8(ascii: "/")) ? String(cString: path + length + 1) : nil
    }
}

// MARK: Callbacks from the C layer

/// The functions that the C layer calls, in memory that is never freed.
/// `@unchecked Sendable`: the memory is written once, before the pointer is shared.
private struct Callbacks: @unchecked Sendable {
    let pointer: UnsafePointer<tideline_file_observer>

    init() {
        let memory = UnsafeMutablePointer<tideline_file_observer>.allocate(capacity: 1)
        memory.initialize(to: tideline_file_observer(decide: decide, performed: performed))
        pointer = UnsafePointer(memory)
    }
}

private let callbacks = Callbacks()

private func decide(_ call: UnsafePointer<tideline_file_call>?) -> tideline_file_decision {
    var decision = tideline_file_decision(is_watched: false, is_skipped: false, error: 0, length: -1)
    guard let call = call?.pointee, let watch = Watch.of(call), let operation = watch.operation(call) else {
        return decision
    }
    decision.is_watched = true
    switch watch.observer.decide(operation) {
    case .perform: break
    case .skip: decision.is_skipped = true
    case .fail(let error): decision.error = error
    case .cut(let length): decision.length = Int64(max(0, length))
    }
    return decision
}

private func performed(_ call: UnsafePointer<tideline_file_call>?) {
    guard let call = call?.pointee, let watch = Watch.of(call), var operation = watch.operation(call) else { return }
    if operation.kind == .write {
        operation.bytes = Array(UnsafeRawBufferPointer(start: call.bytes, count: operation.length))
    }
    watch.observer.performed(operation)
}

extension Watch {
    func operation(_ call: tideline_file_call) -> FileOperation? {
        guard let kind = FileOperation.Kind(rawValue: Int32(call.kind.rawValue)) else { return nil }
        return FileOperation(
            kind, path: call.is_nameless ? nil : call.path.map(within),
            destination: call.destination.map(within), file: call.file, size: Int(call.size),
            offset: Int(call.offset), length: Int(call.length), isSynced: call.is_synced,
            isForWriting: call.is_for_writing)
    }

    private func within(_ path: UnsafePointer<CChar>) -> String { relative(path) ?? String(cString: path) }
}
