/// Tells of the calls by which this process changes and reads files, and decides how they end.
///
/// The suite's own implementation is `InterposedFiles` of the library `TidelineFaults`; a store that reaches its files
/// through a layer of its own may have its own.
public protocol FileFaults: Sendable {
    /// Whether calls can be observed on this platform and in this build.
    var isAvailable: Bool { get }

    /// Runs `body` while `observer` decides on every call, of any thread, that concerns a file in a folder.
    ///
    /// - Parameters:
    ///   - directory: The folder, from the root on, without links; all folders within belong to it.
    ///   - observer: It gets one call at a time, in the order in which they are made.
    func observing<T>(_ directory: String, by observer: any FileObserver, _ body: () throws -> T) throws -> T
}

/// Who decides on file calls, and is told how they went.
public protocol FileObserver: Sendable {
    /// What is to happen to a call.
    func decide(_ operation: FileOperation) -> FileDecision

    /// A call that was decided on has succeeded, as far as ``FileOperation/length`` says.
    func performed(_ operation: FileOperation)
}

/// What is to happen to a file call.
public enum FileDecision: Sendable, Hashable {
    /// It is made.
    case perform
    /// It is not made, and says that it succeeded.
    case skip
    /// It is not made, and fails with this error number of the system.
    case fail(Int32)
    /// It is made with the first so many bytes of its own only.
    case cut(Int)
}

/// A file call.
public struct FileOperation: Sendable, Hashable {
    /// What it does.
    public var kind: Kind
    /// The file or folder as its path within the observed folder, empty for that itself; a path from the root on for
    /// one outside, which is moved in; nil for a new file without a name.
    public var path: String?
    /// The path that a rename or a link gives.
    public var destination: String?
    /// What tells files apart while they exist; 0 for one that is not made yet.
    public var file: UInt64
    /// How long the file was before, in bytes.
    public var size: Int
    /// Where a write begins; the size that a file gets.
    public var offset: Int
    /// How many bytes are read or written.
    public var length: Int
    /// The bytes that were written; empty before it is performed.
    public var bytes: [UInt8]
    /// Whether a write waits until it is on the disk.
    public var isSynced: Bool

    /// The kinds of file calls.
    public enum Kind: Int32, Sendable, Hashable, CaseIterable {
        /// Opening a file that exists.
        case open
        /// Making an empty file.
        case create
        /// Reading.
        case read
        /// Writing.
        case write
        /// Giving a file a size.
        case resize
        /// Waiting until a file is on the disk.
        case sync
        /// Waiting until a folder's names are on the disk.
        case syncDirectory
        /// Renaming, also over another.
        case rename
        /// Giving a file a second name.
        case link
        /// Removing a file's name.
        case unlink
        /// Making a folder.
        case makeDirectory
        /// Removing a folder.
        case removeDirectory
        /// Mapping a file into memory for writing.
        case map
    }

    /// An operation.
    public init(
        _ kind: Kind, path: String?, destination: String? = nil, file: UInt64 = 0, size: Int = 0, offset: Int = 0,
        length: Int = 0, bytes: [UInt8] = [], isSynced: Bool = false
    ) {
        self.kind = kind
        self.path = path
        self.destination = destination
        self.file = file
        self.size = size
        self.offset = offset
        self.length = length
        self.bytes = bytes
        self.isSynced = isSynced
    }
}

extension FileOperation: CustomStringConvertible {
    /// What it does to which file, for a message.
    public var description: String {
        let name = path ?? "a file without a name"
        return switch kind {
        case .open: "opening \(name)"
        case .create: "creating \(name)"
        case .read: "reading \(length) bytes of \(name)"
        case .write: "writing \(length) bytes to \(name) at \(offset)"
        case .resize: "resizing \(name) to \(offset) bytes"
        case .sync: "syncing \(name)"
        case .syncDirectory: "syncing the folder \(name)"
        case .rename: "renaming \(name) to \(destination ?? "")"
        case .link: "linking \(destination ?? "")"
        case .unlink: "removing \(name)"
        case .makeDirectory: "making the folder \(name)"
        case .removeDirectory: "removing the folder \(name)"
        case .map: "mapping \(name)"
        }
    }
}
