internal import Foundation

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
