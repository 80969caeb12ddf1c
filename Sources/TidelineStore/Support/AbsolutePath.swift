#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension String {
    /// The text as an absolute path of a store: a relative one would change its meaning with the current folder.
    ///
    /// - Throws: ``StoreError/Code/io`` if it is empty or contains a NUL character.
    package func absolutePath() throws(StoreError) -> String {
        guard !isEmpty, !utf8.contains(0) else {
            throw StoreError(.io, "the path is empty or contains a NUL character", path: self)
        }
        return hasPrefix("/") ? self : "\(FileManager.default.currentDirectoryPath)/\(self)"
    }
}
