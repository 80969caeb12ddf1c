internal import CFileCalls
internal import Synchronization
public import TidelineConformance

/// File calls observed where the program asks the C library for them: by the executable that links this library, in its
/// own code and in every shared library, SQLite's, LMDB's, LevelDB's and Foundation's among them.
///
/// ```swift
/// StoreHarness(modes: [], faults: InterposedFiles()) { opening in try MyStore(directory: opening.directory) }
/// ```
///
/// What does not go through the C library's functions is not seen: writes into mapped memory, and those of `FILE`
/// streams and of `io_uring`. Checks of a store that works so end as *not run*, with that reason.
///
/// It works on Linux with glibc, without a sanitizer; elsewhere ``isAvailable`` is false, and nothing is replaced.
public struct InterposedFiles: FileFaults {
    /// An observer's hook; all instances are the same.
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

/// A folder that is observed.
private final class Watch: Sendable {
    let directory: String
    let observer: any FileObserver

    /// All there are: checks run beside each other.
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

    /// The one whose folder a call concerns.
    static func of(_ call: tideline_file_call) -> Watch? {
        let paths = [call.path, call.destination].compactMap { $0.map { String(cString: $0) } }
        return all.withLock { watches in
            watches.last { watch in paths.contains { watch.relative($0) != nil } }
        }
    }

    /// A path within the folder; nil for one outside.
    func relative(_ path: String) -> String? {
        guard path.utf8.starts(with: directory.utf8) else { return nil }
        let rest = path.utf8.dropFirst(directory.utf8.count)
        guard let first = rest.first else { return "" }
        return first == UInt8(ascii: "/") ? String(Substring(rest.dropFirst())) : nil
    }
}

// MARK: What the C layer calls

/// The functions that the C layer calls, in memory that stays.
///
/// `@unchecked Sendable`: the memory is written once, before anyone has the pointer.
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
            kind, path: call.is_nameless ? nil : call.path.map { within(String(cString: $0)) },
            destination: call.destination.map { within(String(cString: $0)) }, file: call.file, size: Int(call.size),
            offset: Int(call.offset), length: Int(call.length), isSynced: call.is_synced)
    }

    private func within(_ path: String) -> String { relative(path) ?? path }
}
