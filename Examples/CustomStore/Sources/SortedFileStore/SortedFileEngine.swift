internal import Foundation
internal import Synchronization
public import TidelineKeyValue
public import TidelineStore

/// An example of an engine that an app defines: it keeps all entries sorted in memory and in one file, which each
/// commit replaces.
///
/// The file contains a checksum of eight bytes and a property list. Each commit writes the whole file, so the engine
/// suits thousands of rows, not millions.
public final class SortedFileEngine: OrderedKeyValueEngine {
    public let capabilities = StoreCapabilities(name: "sortedFile", durability: .full, detectsBitFlips: true)
    /// The smallest value allowed, so that the conformance suite exercises overflow keys.
    public let maximumKeyLength = 128
    public var path: String? { file.path }
    private let file: URL
    private let folder: FileHandle
    private let isOpen = Atomic(true)
    private let committed: Mutex<SortedSnapshot>

    /// Opens the store in a folder, creating the folder if it does not exist, and locks it against other stores.
    public init(path: String) throws {
        let creation = mkdir(path, 0o755) == 0 ? 0 : errno
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError.opening(path, after: creation) }
        folder = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(.locked, "another store has the folder open; close it first", path: path)
        }
        file = URL(fileURLWithPath: "\(path)/entries")
        committed = Mutex(SortedSnapshot())
        if access(file.path, F_OK) == 0 { try committed.withLock { $0 = try SortedFileEngine.load(file) } }
    }

    /// Also runs if the file cannot be read, because all properties have a value by then.
    deinit { try? close() }

    public func read<T>(_ body: (SortedSnapshot) throws -> T) throws -> T { try body(committed.withLock { $0 }) }

    public func write<T>(_ body: (OverlayTransaction<SortedSnapshot>) throws -> T) throws -> T {
        let snapshot = committed.withLock { $0 }
        let transaction = OverlayTransaction(over: snapshot)
        let result = try body(transaction)
        guard !transaction.isEmpty else { return result }
        let changed = snapshot.applying(transaction)
        do { try save(changed) } catch {
            throw StoreError.writing(file, error)
        }
        committed.withLock { $0 = changed }
        return result
    }

    public func close() throws {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        // A process that is being started briefly has a copy of the descriptor, and the lock with it.
        flock(folder.fileDescriptor, LOCK_UN)
        try folder.close()
    }

    /// Writes and syncs the complete new file, then renames it over the old one atomically.
    private func save(_ snapshot: SortedSnapshot) throws {
        let new = file.appendingPathExtension("new")
        let content = try PropertyListEncoder().encode(snapshot)
        try (checksum(content) + content).write(to: new)
        try FileHandle(forUpdating: new).synchronize()
        guard rename(new.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        try folder.synchronize()
    }

    private static func load(_ file: URL) throws -> SortedSnapshot {
        guard let data = try? Data(contentsOf: file) else {
            throw StoreError(.io, "the file cannot be read", path: file.path)
        }
        let content = Data(data.dropFirst(8))
        guard data.prefix(8) == checksum(content),
            let snapshot = try? PropertyListDecoder().decode(SortedSnapshot.self, from: content)
        else { throw StoreError.reading(content, of: file) }
        return snapshot
    }
}

/// Returns the FNV-1a hash of the data.
private func checksum(_ data: Data) -> Data {
    let hash = data.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return withUnsafeBytes(of: hash.littleEndian) { Data($0) }
}
