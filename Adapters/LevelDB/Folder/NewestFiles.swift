internal import Foundation
internal import TidelineStore

/// The log and the manifest to which LevelDB appends. It replaces them by others with greater numbers.
struct NewestFiles {
    private var log = NumberedFile()
    private var manifest = NumberedFile()

    private struct NumberedFile {
        var number: UInt64 = 0
        var path = ""

        var exists: Bool { access(path, F_OK) == 0 }
    }

    /// Returns whether the files, or newer ones, are in a folder.
    mutating func areInPlace(in folder: String) throws(StoreError) -> Bool {
        // A list of a folder that changes at the same time may lack files, so it is read more than once.
        for _ in 0..<3 {
            if log.exists, manifest.exists { return true }
            for name in try FolderCheck.names(in: folder) {
                switch FileName(name) {
                case .log(let number) where number >= log.number:
                    log = NumberedFile(number: number, path: "\(folder)/\(name)")
                case .manifest(let number) where number >= manifest.number:
                    manifest = NumberedFile(number: number, path: "\(folder)/\(name)")
                default: continue
                }
            }
        }
        return log.exists && manifest.exists
    }
}
