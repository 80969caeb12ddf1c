import CLMDB
import TidelineKeyValue
import TidelineTestStores

@testable import TidelineLMDB

extension Environment {
    /// The current flags of the LMDB environment.
    var flags: UInt32 {
        var flags: UInt32 = 0
        mdb_env_get_flags(handle, &flags)
        return flags
    }

    /// The number of entries that the reader table has room for. It depends on the size of the lock file, which has
    /// whole pages.
    var readerPlaces: Int {
        var count: UInt32 = 0
        mdb_env_get_maxreaders(handle, &count)
        return Int(count)
    }

    /// A line for each reader in the reader table, with its process.
    var readers: [Substring] {
        func append(_ line: UnsafePointer<CChar>?, _ context: UnsafeMutableRawPointer?) -> Int32 {
            guard let line, let context else { return -1 }
            context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
            return 0
        }
        var text = ""
        withUnsafeMutablePointer(to: &text) { _ = mdb_reader_list(handle, append, $0) }
        return Array(text.split(separator: "\n").dropFirst())
    }
}

/// Calls `body` with an engine, and closes the engine.
func withEngine<T>(_ path: String, _ options: LMDBOptions = .init(), _ body: (LMDBEngine) throws -> T) throws -> T {
    let engine = try LMDBEngine(path: path, options: options)
    let result = try body(engine)
    try engine.close()
    return result
}

/// Returns a key of a space.
func key(_ space: UInt32, _ rest: String = "") -> [UInt8] {
    withUnsafeBytes(of: space.bigEndian) { Array($0) } + Array(rest.utf8)
}

/// Returns the range of all keys of a space.
func keys(of space: UInt32) -> KeyRange { KeyRange(prefix: key(space)) }

extension KeyValueSnapshot {
    func count(_ range: KeyRange) throws -> Int { try entries(in: range).count }
}

extension LMDBEngine {
    /// Returns the number of keys of a space.
    func count(_ space: UInt32) throws -> Int { try read { try $0.count(keys(of: space)) } }
}
