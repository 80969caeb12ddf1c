/// The contents of a disk while a log of changes is replayed.
struct Disk {
    private var contents: [Int: [UInt8]] = [:]
    private var names: [String: Int] = [:]
    private var folders: Set<String> = []

    /// The current contents.
    var image: FolderImage {
        var image = FolderImage()
        image.folders = folders
        image.files = names.mapValues { contents[$0] ?? [] }
        return image
    }

    /// Writes bytes to a file, which is extended with zeros if necessary.
    mutating func write(_ bytes: ArraySlice<UInt8>, to file: Int, at offset: Int) {
        var content = contents.removeValue(forKey: file) ?? []
        let end = offset + bytes.count
        if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
        content.withUnsafeMutableBytes { memory in
            bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[offset..<end]).copyMemory(from: $0) }
        }
        contents[file] = content
    }

    /// Applies a change of names or sizes.
    mutating func apply(_ change: FileLog.Change) {
        switch change {
        case .create(let file, let path):
            contents[file] = []
            if let path { names[path] = file }
        case .resize(let file, let size): resize(file, to: size)
        case .link(let file, let path): names[path] = file
        case .unlink(let path): names[path] = nil
        case .rename(let from, let to): rename(from, to)
        case .makeDirectory(let path): folders.insert(path)
        case .removeDirectory(let path): folders.remove(path)
        case .write, .sync, .syncDirectory: break
        }
    }

    private mutating func resize(_ file: Int, to size: Int) {
        let content = contents[file] ?? []
        let more = max(0, size - content.count)
        contents[file] = Array(content.prefix(size)) + [UInt8](repeating: 0, count: more)
    }

    private mutating func rename(_ from: String, _ to: String) {
        if let file = names.removeValue(forKey: from) {
            names[to] = file
            return
        }
        func moved(_ path: String) -> String? {
            path == from ? to : path.hasPrefix("\(from)/") ? to + path.dropFirst(from.count) : nil
        }
        folders = Set(folders.map { moved($0) ?? $0 })
        names = Dictionary(names.map { (moved($0.key) ?? $0.key, $0.value) }) { _, new in new }
    }
}
