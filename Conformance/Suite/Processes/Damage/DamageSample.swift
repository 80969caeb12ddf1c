internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// A store with ``KnownContent``, copies of which are damaged in different ways.
struct DamageSample {
    /// The directory of the intact store.
    let folder: String
    /// The paths of the nonempty files within the directory and their sizes, sorted by path.
    let files: [(path: String, size: Int)]

    private init(_ folder: String) throws {
        self.folder = folder
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        files = names.sorted().compactMap { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
            let size = (attributes?[.size] as? Int) ?? 0
            return size > 0 ? (name, size) : nil
        }
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
        try context.expectDamage(
            [unharmed], of: sample, allows: [.right], "an undamaged copy of the store's directory is the same store")
        return sample
    }
}

extension KnownContent {
    fileprivate static let halves = [0..<(commits / 2), (commits / 2)..<commits]
}

// MARK: - Locations

extension DamageSample {
    /// Returns damages spread over all files in proportion to their size, with at least a few for each.
    ///
    /// - Parameters:
    ///   - count: The approximate number.
    ///   - change: Returns the change for a file of the given size at the given offset.
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
