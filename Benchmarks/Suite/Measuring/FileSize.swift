internal import Foundation

/// The sizes of files, as the disk has them.
enum FileSize {
    /// How many bytes the files in a folder have; holes in them do not count. Files that go meanwhile are passed over.
    static func bytes(inFolder path: String) -> Int {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.reduce(0) { $0 + bytes(ofFile: "\(path)/\($1)") }
    }

    private static func bytes(ofFile path: String) -> Int {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return 0 }
        return min(Int(info.st_size), Int(info.st_blocks) * 512)
    }
}
