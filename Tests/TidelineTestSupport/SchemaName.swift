internal import Foundation

/// Returns the name of the database schema that stands for a folder in which stores of other kinds keep their files.
public func schemaName(ofFolder path: String) -> String {
    let path = URL(fileURLWithPath: path).standardizedFileURL.path
    let hash = path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return "s\(hash)"
}
