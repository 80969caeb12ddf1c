internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// A store with ``KnownContent``, copies of which are damaged in different ways.
struct DamageSample {
    /// The directory of the intact store.
    let folder: String
    /// The paths of the nonempty files within the directory and their sizes, sorted by path.
    let files: [(path: String, size: Int)]

    private init(_ folder: String) {
        self.folder = folder
        files = ProcessState.files(in: folder).filter { $0.size > 0 }
    }

    /// Returns a store that was closed twice, because some move rows out of their logs at the second opening.
    static func closed(_ context: CheckContext) throws -> DamageSample {
        for numbers in KnownContent.halves {
            // The content is always the same and would make up most of a script.
            let store = try context.open("sample")
            try KnownContent.fill(store.base, numbers)
            try store.close()
        }
        return try checked(context)
    }

    /// Returns a store whose process was killed, so that it may have a log that the closed one lacks.
    static func killed(_ context: CheckContext) throws -> DamageSample {
        let opening = ChildStep.open(try context.opening("sample"))
        let steps = KnownContent.halves.flatMap { [opening, .fill($0), .close] }
        try context.child(steps.dropLast() + [.wait]) { child in
            try child.expect(ChildLine.waiting)
            try child.killAndFinish()
        }
        return try checked(context)
    }

    /// Fails unless an undamaged copy reads correctly.
    private static func checked(_ context: CheckContext) throws -> DamageSample {
        let sample = try DamageSample(context.folder("sample"))
        guard let file = sample.files.first else {
            throw CheckFailure("the store declares that it keeps its rows, but its directory has no nonempty file")
        }
        let unharmed = Damage(file: file.path, change: .cut(to: file.size))
        try context.expectDamage([unharmed], of: sample, allows: [.right], "an undamaged copy is the same store")
        return sample
    }
}

extension KnownContent {
    fileprivate static let halves = [0..<(commits / 2), (commits / 2)..<commits]
}

// MARK: - Locations

extension DamageSample {
    /// Returns about `count` damages spread over all files in proportion to their size, with at least a few for each;
    /// `change` returns that for a file of the given size at the given offset.
    func damages(
        _ count: Int, _ random: inout SplitMix64,
        _ change: (_ size: Int, _ place: Int, inout SplitMix64) -> Damage.Change
    ) -> [Damage] {
        let total = files.reduce(0) { $0 + $1.size }
        return files.flatMap { file in
            let share = max(3, count * file.size / total)
            return places(min(share, file.size), in: file.size, &random).map { place in
                Damage(file: file.path, change: change(file.size, place, &random))
            }
        }
    }

    /// Returns one damage for every file.
    func ofEachFile(_ change: (_ size: Int) -> Damage.Change) -> [Damage] {
        files.map { Damage(file: $0.path, change: change($0.size)) }
    }

    /// Returns offsets in a file: its beginning and end, the beginnings of pages, and random offsets.
    private func places(_ count: Int, in size: Int, _ random: inout SplitMix64) -> [Int] {
        let fixed = [0, size - 1, size / 2].filter { $0 >= 0 }
        let drawn = (0..<max(0, count - fixed.count)).map { _ in
            switch Int.random(in: 0..<4, using: &random) {
            case 0: Int.random(in: 0...(size / 4096), using: &random) * 4096
            case 1: size - 1 - Int.random(in: 0..<min(size, 200), using: &random)
            default: Int.random(in: 0..<size, using: &random)
            }
        }
        return (fixed + drawn).map { min($0, size - 1) }
    }
}

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
