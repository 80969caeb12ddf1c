import Foundation
import TidelineKeyValue
import TidelineLevelDB
import TidelineStore
import TidelineSupport

/// The contents of an engine in tests: text keys and values in one key space.
typealias Entries = [String: String]

private let space: [UInt8] = [0, 0, 0, 7]
private let everything = KeyRange(prefix: space)

private func withKey<T>(_ key: String, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    try (space + Array(key.utf8)).withUnsafeBytes { try body($0) }
}

private func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

extension KeyValueSnapshot {
    func value(_ key: String) throws -> String? {
        var value: String?
        _ = try withKey(key) { try get($0) { value = text($0) } }
        return value
    }

    /// Returns at most `limit` entries in order, starting at a key.
    func entries(from first: String = "", descending: Bool = false, limit: Int = .max) throws -> [(String, String)] {
        var found: [(String, String)] = []
        let range = KeyRange(from: space + Array(first.utf8), to: everything.upper)
        try scan(range, descending: descending) { key, value in
            found.append((text(UnsafeRawBufferPointer(rebasing: key.dropFirst(space.count))), text(value)))
            return found.count < limit ? .next : .stop
        }
        return found
    }

    func all() throws -> Entries { Entries(try entries(), uniquingKeysWith: { $1 }) }
}

extension KeyValueTransaction {
    func set(_ key: String, _ value: String) throws {
        try withKey(key) { key in
            var value = value
            try value.withUTF8 { try put(key, UnsafeRawBufferPointer($0)) }
        }
    }

    @discardableResult
    func remove(_ key: String) throws -> Bool { try withKey(key) { try delete($0) } }
}

extension LevelDBEngine {
    func all() throws -> Entries { try read { try $0.all() } }

    func put(_ entries: Entries) throws {
        try write { transaction in for (key, value) in entries { try transaction.set(key, value) } }
    }
}

/// Opens an engine, and returns its contents.
func contents(of path: String, _ options: LevelDBOptions = LevelDBOptions()) throws -> Entries {
    let engine = try LevelDBEngine(path: path, options: options)
    let contents = try engine.all()
    try engine.close()
    return contents
}

/// Returns text that does not compress.
func noise(_ seed: Int, _ length: Int) -> String {
    var random = SplitMix64(seed: UInt64(seed))
    return String((0..<length).map { _ in Character(UnicodeScalar(UInt8.random(in: 32..<127, using: &random))) })
}

/// Replaces the files of a folder.
func replaceFiles(_ folder: String, by files: [String: Data]) throws {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for (name, content) in files { try content.write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
}

/// Returns the files of a folder, without subfolders.
func files(_ folder: String) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        found[name] = FileManager.default.contents(atPath: "\(folder)/\(name)")
    }
    return found
}

/// Returns the files of a database except its lock file and its information log.
func databaseFiles(_ folder: String) throws -> [String: Data] {
    try files(folder).filter { !$0.key.hasPrefix("LOG") && $0.key != "LOCK" }
}
