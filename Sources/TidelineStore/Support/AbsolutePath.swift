#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension String {
    /// The text as an absolute path of a store: a relative one would change its meaning with the current folder, and
    /// some have a special meaning in SQLite.
    ///
    /// - Throws: ``StoreError/Code/io`` if it is empty or contains a NUL character.
    package func absolutePath() throws(StoreError) -> String {
        guard !isEmpty, !utf8.contains(0) else {
            throw StoreError(.io, "the path is empty or contains a NUL character", path: self)
        }
        return utf8.first == UInt8(ascii: "/") ? self : "\(FileManager.default.currentDirectoryPath)/\(self)"
    }
}
