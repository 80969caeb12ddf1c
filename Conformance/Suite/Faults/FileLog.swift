/// Everything that was done to the files of a folder, in order, from when it was empty.
struct FileLog: Sendable {
    /// One change; files are numbered as they are made.
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

    /// One change and what it was, for a message.
    struct Entry: Sendable {
        var change: Change
        var operation: String
    }

    private(set) var entries: [Entry] = []
    /// How many entries there were at each moment that the check marked.
    private(set) var marks: [Int] = []
    /// The number of each file there is, by what tells them apart while they exist.
    private var numbers: [UInt64: Int] = [:]
    private var lastNumber = 0

    /// An empty folder, nothing done yet.
    init() {}

    /// What is in a folder, as if it had been made and synced.
    ///
    /// - Parameter number: What tells the file of a path apart.
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

    /// Marks this moment.
    mutating func mark() { marks.append(entries.count) }

    /// How many of the marks were made before an entry.
    func marks(before position: Int) -> Int { marks.prefix { $0 <= position }.count }

    /// Adds what was done.
    ///
    /// - Parameter content: What a file has now that the log does not know; one made in a way that is not seen.
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
            // A new file's content has it.
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

    /// The number of an operation's file; one that was made unseen is made now, with what it has.
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
    /// Whether a journal of the file system keeps it, in order with the others of its kind.
    var isMetadata: Bool {
        switch self {
        case .write, .sync, .syncDirectory: false
        default: true
        }
    }

    /// Whether everything that is metadata is on the disk after it.
    var isSync: Bool {
        switch self {
        case .sync, .syncDirectory: true
        default: false
        }
    }
}
