/// Observes the calls by which this process reads and changes files, and decides their outcome.
///
/// The suite's own implementation is `InterposedFiles` in the library `TidelineFaults`. A store that accesses its files
/// through a layer of its own may provide another.
public protocol FileFaults: Sendable {
    /// Whether calls can be observed on this platform and in this build.
    var isAvailable: Bool { get }

    /// Runs `body` while `observer` decides on every call, from any thread, that concerns a file in a directory.
    ///
    /// - Parameters:
    ///   - directory: The absolute path of the directory, without symbolic links; subdirectories are included.
    ///   - observer: Receives one call at a time, in the order in which the calls are made.
    func observing<T>(_ directory: String, by observer: any FileObserver, _ body: () throws -> T) throws -> T
}

/// Decides the outcome of file calls and is notified of their success.
public protocol FileObserver: Sendable {
    /// Returns the outcome of a call that is about to be made.
    func decide(_ operation: FileOperation) -> FileDecision

    /// Called after a permitted call succeeded, up to ``FileOperation/length`` bytes.
    func performed(_ operation: FileOperation)
}

/// The outcome of a file call.
public enum FileDecision: Sendable, Hashable {
    /// The call is made.
    case perform
    /// The call is not made but reports success.
    case skip
    /// The call is not made and fails with this system error number.
    case fail(Int32)
    /// The call is made with only this many bytes of its data.
    case cut(Int)
}

/// A file call.
public struct FileOperation: Sendable, Hashable {
    /// The kind of call.
    public var kind: Kind
    /// The path of the file or directory within the observed directory, or an empty string for that directory itself.
    /// An absolute path for a file outside that is moved in; `nil` for a new file without a name.
    public var path: String?
    /// The destination path of a rename or link.
    public var destination: String?
    /// Identifies a file while it exists; 0 for a file that has not been created yet.
    public var file: UInt64
    /// The length of the file before the call, in bytes.
    public var size: Int
    /// The offset at which a write begins, or the new size of a resized file.
    public var offset: Int
    /// The number of bytes to read or write.
    public var length: Int
    /// The bytes that were written; empty before the call is performed.
    public var bytes: [UInt8]
    /// Whether a write waits until its data is on the disk.
    public var isSynced: Bool
    /// Whether a file is opened for writing.
    public var isForWriting: Bool

    /// The kinds of file calls.
    public enum Kind: Int32, Sendable, Hashable, CaseIterable {
        /// Opening a file that exists.
        case open
        /// Creating an empty file.
        case create
        /// Reading.
        case read
        /// Writing.
        case write
        /// Changing the size of a file.
        case resize
        /// Waiting until a file is on the disk.
        case sync
        /// Waiting until the names in a directory are on the disk.
        case syncDirectory
        /// Renaming, including replacing another file.
        case rename
        /// Creating a second name for a file.
        case link
        /// Removing a name of a file.
        case unlink
        /// Creating a directory.
        case makeDirectory
        /// Removing a directory.
        case removeDirectory
        /// Mapping a file into memory for writing.
        case map
    }

    /// Creates an operation.
    public init(
        _ kind: Kind, path: String?, destination: String? = nil, file: UInt64 = 0, size: Int = 0, offset: Int = 0,
        length: Int = 0, bytes: [UInt8] = [], isSynced: Bool = false, isForWriting: Bool = false
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
        self.isForWriting = isForWriting
    }
}

extension FileOperation: CustomStringConvertible {
    /// A description of the call and its file for use in messages.
    public var description: String {
        let name = path ?? "a file without a name"
        return switch kind {
        case .open: "opening \(name)"
        case .create: "creating \(name)"
        case .read: "reading \(length) bytes of \(name)"
        case .write: "writing \(length) bytes to \(name) at \(offset)"
        case .resize: "resizing \(name) to \(offset) bytes"
        case .sync: "syncing \(name)"
        case .syncDirectory: "syncing the directory \(name)"
        case .rename: "renaming \(name) to \(destination ?? "")"
        case .link: "linking \(destination ?? "")"
        case .unlink: "removing \(name)"
        case .makeDirectory: "creating the directory \(name)"
        case .removeDirectory: "removing the directory \(name)"
        case .map: "mapping \(name)"
        }
    }
}
