internal import Foundation
internal import TidelineSupport

/// One change to one file of a closed store.
struct Damage: Codable, Sendable, CustomStringConvertible {
    /// The file's path within the store's directory.
    var file: String
    /// The change.
    var change: Change

    enum Change: Codable, Sendable {
        /// The file is truncated to this size.
        case cut(to: Int)
        /// A range of the file is overwritten with zeros.
        case zeros(at: Int, count: Int)
        /// One bit is inverted.
        case flip(byte: Int, bit: Int)
        /// A range of the file, or the space after its end, is overwritten with bytes generated from a seed.
        case garbage(at: Int, count: Int, seed: UInt64)
        /// The content is replaced by bytes generated from a seed.
        case replaced(count: Int, seed: UInt64)
        /// The file is removed.
        case removed
    }

    var description: String {
        switch change {
        case .cut(let size): "\(file) truncated to \(size) bytes"
        case .zeros(let place, let count): "\(count) zeros in \(file) from byte \(place) on"
        case .flip(let byte, let bit): "bit \(bit) of byte \(byte) of \(file) flipped"
        case .garbage(let place, let count, _): "\(count) bytes of garbage in \(file) from byte \(place) on"
        case .replaced(let count, _): "\(file) replaced by \(count) bytes of garbage"
        case .removed: "\(file) removed"
        }
    }

    /// Applies the damage to the store in a directory.
    func apply(in folder: String) throws {
        let path = "\(folder)/\(file)"
        if case .removed = change { return try FileManager.default.removeItem(atPath: path) }
        var content = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        switch change {
        case .removed: break
        case .cut(let size): content = Array(content.prefix(size))
        case .zeros(let place, let count): Self.write(Array(repeating: 0, count: count), at: place, to: &content)
        case .flip(let byte, let bit): content[byte] ^= 1 << UInt8(bit)
        case .garbage(let place, let count, let seed): Self.write(Self.garbage(count, seed), at: place, to: &content)
        case .replaced(let count, let seed): content = Self.garbage(count, seed)
        }
        // The file is overwritten in place because a new file would have other permissions.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(content))
        try file.close()
    }

    private static func garbage(_ count: Int, _ seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private static func write(_ bytes: [UInt8], at place: Int, to content: inout [UInt8]) {
        let end = min(place + bytes.count, content.count)
        content.replaceSubrange(place..<max(place, end), with: bytes)
    }
}
