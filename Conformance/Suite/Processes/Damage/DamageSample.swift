internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// A store with ``KnownContent`` whose files are damaged, each copy in another way.
struct DamageSample {
    /// The folder of the store, which is whole.
    let folder: String
    /// Its files' paths within the folder and their sizes, in order of path; only those with something in them.
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

    /// A store that was closed.
    ///
    /// It was opened a second time between, as some stores move rows from their logs then.
    static func closed(_ trial: Trial) throws -> DamageSample {
        for numbers in KnownContent.halves {
            // What it is filled with is always the same, and would be most of a script.
            let store = try trial.open("sample")
            try KnownContent.fill(store.base, numbers)
            try store.close()
        }
        return try checked(trial)
    }

    /// A store whose process was killed, so that there may be a log that the closed one lacks.
    static func killed(_ trial: Trial) throws -> DamageSample {
        let opening = ChildStep.open(try trial.opening("sample"))
        let steps = KnownContent.halves.flatMap { [opening, .fill($0), .close] }
        try trial.child(steps.dropLast() + [.wait]) { child in
            try child.expect(ChildLine.waiting)
            child.kill()
            _ = try child.finish()
        }
        return try checked(trial)
    }

    /// Fails unless a copy that nothing was done to is right.
    private static func checked(_ trial: Trial) throws -> DamageSample {
        let sample = try DamageSample(try trial.folder("sample"))
        guard let file = sample.files.first else {
            throw CheckFailure(
                "the store declares that it keeps its rows, but its folder has no file with anything in it")
        }
        let unharmed = Damage(file: file.path, change: .cut(to: file.size))
        try trial.expectDamage(
            [unharmed], of: sample, allows: [.right], "a copy of the store's folder is the same store")
        return sample
    }
}

extension KnownContent {
    fileprivate static let halves = [0..<(commits / 2), (commits / 2)..<commits]
}

// MARK: - Where

extension DamageSample {
    /// Damages spread over all files, larger ones more, each at least a few times.
    ///
    /// - Parameters:
    ///   - count: About how many.
    ///   - change: What is done to a file of that size, at a place in it.
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

    /// One damage of every file.
    func ofEachFile(_ change: (_ size: Int) -> Damage.Change) -> [Damage] {
        files.map { Damage(file: $0.path, change: change($0.size)) }
    }

    /// Places in a file: where it begins and ends, where pages begin, and any.
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
