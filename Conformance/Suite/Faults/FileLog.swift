internal import Foundation
internal import Synchronization

/// All changes to the files of a directory, in order, starting with an empty directory.
struct FileLog: Sendable {
    /// One change. Files are numbered in the order of their creation.
    enum Change: Sendable {
        case create(file: Int, path: String?)
        case write(file: Int, offset: Int, bytes: [UInt8], isSynced: Bool)
        case resize(file: Int, size: Int)
        case sync(file: Int)
        case syncDirectory
        case rename(from: String, to: String)
        case link(file: Int, path: String)
        case unlink(path: String)
        case makeDirectory(path: String)
        case removeDirectory(path: String)
    }

    /// One change and its description for a message.
    struct Entry: Sendable {
        var change: Change
        var operation: String
    }

    private(set) var entries: [Entry] = []
    /// The number of entries at each point that the check marked.
    private(set) var marks: [Int] = []
    /// The number of each existing file, keyed by its system identifier.
    private var numbers: [UInt64: Int] = [:]
    private var lastNumber = 0

    /// Creates the log of an empty directory.
    init() {}

    /// Creates the log of a directory with content, as if created and synced; `number` returns a file's system number.
    init(_ image: FolderImage, number: (String) -> UInt64) {
        for path in image.folders.sorted() { add(FileOperation(.makeDirectory, path: path)) { _ in nil } }
        for (path, bytes) in image.files.sorted(by: { $0.key < $1.key }) {
            let file = number(path)
            add(FileOperation(.create, path: path, file: file)) { _ in nil }
            let length = bytes.count
            add(FileOperation(.write, path: path, file: file, length: length, bytes: bytes)) { _ in nil }
            add(FileOperation(.sync, path: path, file: file)) { _ in nil }
        }
    }

    /// Marks the current point.
    mutating func mark() { marks.append(entries.count) }

    /// Returns the number of marks before an entry.
    func marks(before position: Int) -> Int { marks.prefix { $0 <= position }.count }

    /// Adds an operation; `content` returns that of a file whose creation was not observed.
    mutating func add(_ operation: FileOperation, content: (String) -> [UInt8]?) {
        switch operation.kind {
        case .open, .read, .map: break
        case .create:
            let file = nextNumber(for: operation.file)
            append(.create(file: file, path: operation.path), operation)
        case .write, .resize, .sync: addChange(operation, content)
        case .syncDirectory: append(.syncDirectory, operation)
        case .rename, .link: addName(operation, content)
        case .unlink: append(.unlink(path: operation.path ?? ""), operation)
        case .makeDirectory: append(.makeDirectory(path: operation.path ?? ""), operation)
        case .removeDirectory: append(.removeDirectory(path: operation.path ?? ""), operation)
        }
    }

    private mutating func addChange(_ operation: FileOperation, _ content: (String) -> [UInt8]?) {
        let isNew = numbers[operation.file] == nil
        let file = number(for: operation, operation.path, content)
        switch operation.kind {
        case .write:
            // The content of a new file includes it.
            guard !isNew, !operation.bytes.isEmpty else { return }
            let change = Change.write(
                file: file, offset: operation.offset, bytes: operation.bytes, isSynced: operation.isSynced)
            append(change, operation)
        case .resize: append(.resize(file: file, size: operation.offset), operation)
        default: append(.sync(file: file), operation)
        }
    }

    private mutating func addName(_ operation: FileOperation, _ content: (String) -> [UInt8]?) {
        let (from, to) = (operation.path ?? "", operation.destination ?? "")
        if operation.kind == .link {
            let isNew = numbers[operation.file] == nil
            let file = number(for: operation, to, content)
            if !isNew { append(.link(file: file, path: to), operation) }
        } else if from.hasPrefix("/") {
            _ = number(for: operation, to, content)
        } else if to.hasPrefix("/") {
            append(.unlink(path: from), operation)
        } else {
            append(.rename(from: from, to: to), operation)
        }
    }

    /// Returns the number of an operation's file, which is added with its content if its creation was not observed.
    private mutating func number(
        for operation: FileOperation, _ path: String?, _ content: (String) -> [UInt8]?
    ) -> Int {
        if let known = numbers[operation.file] { return known }
        let file = nextNumber(for: operation.file)
        append(.create(file: file, path: path), operation)
        if let path, let bytes = content(path), !bytes.isEmpty {
            append(.write(file: file, offset: 0, bytes: bytes, isSynced: false), operation)
        }
        return file
    }

    private mutating func nextNumber(for file: UInt64) -> Int {
        lastNumber += 1
        numbers[file] = lastNumber
        return lastNumber
    }

    private mutating func append(_ change: Change, _ operation: FileOperation) {
        entries.append(Entry(change: change, operation: operation.description))
    }
}

extension FileLog.Change {
    /// Whether all metadata is on the disk after the change.
    var isSync: Bool {
        switch self {
        case .sync, .syncDirectory: true
        default: false
        }
    }
}

/// Records all changes to the files in a directory. Syncs are not performed, so that many commits take little time.
final class FileRecorder: FileObserver {
    private let directory: String
    private let content: Mutex<FileLog>

    /// Creates a recorder for a directory, which may already contain files.
    init(_ directory: String) throws {
        self.directory = directory
        let image = try FolderImage(reading: directory)
        content = Mutex(FileLog(image) { FileRecorder.number(of: "\(directory)/\($0)") })
    }

    private static func number(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    }

    /// The changes so far.
    var log: FileLog { content.withLock { $0 } }

    /// Marks the current point.
    func mark() { content.withLock { $0.mark() } }

    func decide(_ operation: FileOperation) -> FileDecision {
        operation.kind == .sync || operation.kind == .syncDirectory ? .skip : .perform
    }

    func performed(_ operation: FileOperation) {
        let directory = directory
        content.withLock { log in
            log.add(operation) { FileManager.default.contents(atPath: "\(directory)/\($0)").map { [UInt8]($0) } }
        }
    }
}

/// The contents of a directory: its files and subdirectories, keyed by their relative paths.
struct FolderImage: Sendable, Hashable {
    var files: [String: [UInt8]] = [:]
    var folders: Set<String> = []

    /// Creates the image of an empty directory.
    init() {}

    /// Reads the current contents of a directory.
    init(reading directory: String) throws {
        let manager = FileManager.default
        for path in manager.enumerator(atPath: directory)?.compactMap({ $0 as? String }) ?? [] {
            var isFolder: ObjCBool = false
            guard manager.fileExists(atPath: "\(directory)/\(path)", isDirectory: &isFolder) else { continue }
            if isFolder.boolValue {
                folders.insert(path)
            } else if let data = manager.contents(atPath: "\(directory)/\(path)") {
                files[path] = [UInt8](data)
            }
        }
    }

    /// Writes the contents to an empty directory.
    func write(to directory: String) throws {
        let manager = FileManager.default
        do {
            for path in folders.sorted() {
                try manager.createDirectory(atPath: "\(directory)/\(path)", withIntermediateDirectories: true)
            }
            for (path, bytes) in files {
                let file = URL(fileURLWithPath: "\(directory)/\(path)")
                try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(bytes).write(to: file)
            }
        } catch {
            throw HarnessError("the files of a crash cannot be created in \(directory): \(error)")
        }
    }
}
