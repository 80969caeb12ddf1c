internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Damaged files.
    static let durabilityDamage: [Check] = durabilityLostParts + durabilityChangedBytes
    /// What a check of damaged files needs.
    fileprivate static let damageNeeds: [CheckNeed] = [.persistence, .damage, .process]

    /// Files that lack something, or have too much.
    private static let durabilityLostParts: [Check] = [
        Check(
            "DUR-201", "A store whose file was cut off tells so, or is as it was after some commit",
            why: """
                A log that ends early is what a loss of power leaves, so the store may go back to an earlier commit \
                then, a whole one. Rows that were never there together, rows that are missing from an index, and a \
                process that dies are mistakes. Copies of a closed store are cut at many places.
                """,
            tier: .stress, needs: damageNeeds
        ) { trial in
            var random = SplitMix64(seed: trial.seed)
            let sample = try DamageSample.closed(trial)
            let cuts = sample.damages(trial.damages, &random) { _, place, _ in .cut(to: place) }
            try trial.expectDamage(cuts, of: sample, allows: .someCommit, "a store whose file was cut tells so")
        },
        Check(
            "DUR-202", "What a killed process left, cut off, tells so or is as it was after some commit",
            why:
                "As DUR-201, of a store that was not closed: its last commits lie in a log that is read when it opens.",
            tier: .stress, needs: damageNeeds
        ) { trial in
            var random = SplitMix64(seed: trial.seed)
            let sample = try DamageSample.killed(trial)
            let cuts = sample.damages(trial.damages, &random) { _, place, _ in .cut(to: place) }
            try trial.expectDamage(cuts, of: sample, allows: .someCommit, "a store whose file was cut tells so")
        },
        Check(
            "DUR-203", "A store one of whose files is missing tells so, or is as it was after some commit",
            why: "A backup that forgot a side file must not give rows of different commits.",
            needs: damageNeeds
        ) { trial in
            let sample = try DamageSample.closed(trial)
            let removals = sample.ofEachFile { _ in .removed }
            try trial.expectDamage(removals, of: sample, allows: .someCommit, "a store that lacks a file tells so")
        },
        Check(
            "DUR-204", "What a killed process left, without one of its files, tells so or is as after some commit",
            needs: damageNeeds
        ) { trial in
            let sample = try DamageSample.killed(trial)
            let removals = sample.ofEachFile { _ in .removed }
            try trial.expectDamage(removals, of: sample, allows: .someCommit, "a store that lacks a file tells so")
        },
        Check(
            "DUR-205", "A store with bytes behind the end of a file is read right, or tells so",
            why: "Nothing of what was committed is lost, so going back to an earlier commit is not allowed.",
            needs: damageNeeds
        ) { trial in
            let sample = try DamageSample.closed(trial)
            let appended = [1, 100, 5_000].flatMap { count in
                sample.ofEachFile { .garbage(at: $0, count: count, seed: trial.seed) }
                    + sample.ofEachFile { .zeros(at: $0, count: count) }
            }
            try trial.expectDamage(
                appended, of: sample, allows: .untouched,
                "a store with more in a file than it wrote is right or tells so")
        },
        Check(
            "DUR-206", "A store with garbage in place of a file is read right, or tells so",
            why: """
                The file of another program, or of a disk that forgot: it says corrupt. A store that begins anew then \
                throws away what a repair or a backup of the other files could save.
                """,
            needs: damageNeeds
        ) { trial in
            let sample = try DamageSample.closed(trial)
            let sizes: [(Int) -> Int] = [{ $0 }, { _ in 100 }, { _ in 20_000 }]
            let replaced = sizes.flatMap { size in
                sample.ofEachFile { .replaced(count: size($0), seed: trial.seed) }
            }
            try trial.expectDamage(replaced, of: sample, allows: .untouched, "a store with garbage for a file tells so")
        },
    ]
}

extension Check {
    /// Files in which bytes are others than were written.
    fileprivate static let durabilityChangedBytes: [Check] = [
        Check(
            "DUR-207", "Bytes that changed end no process, and no call hangs or throws what is not damage",
            why: """
                A medium that fails changes bytes. Without checksums a value may be wrong then, but lengths and \
                positions that are read from a file must be checked before they are followed.
                """,
            tier: .stress, needs: damageNeeds
        ) { trial in
            var random = SplitMix64(seed: trial.seed)
            let sample = try DamageSample.closed(trial)
            let changes = sample.damages(2 * trial.damages, &random, Damage.Change.any)
            try trial.expectDamage(changes, of: sample, allows: .survived, "damaged files end no process")
        },
        Check(
            "DUR-208", "Bytes that changed in what a killed process left end no process",
            tier: .stress, needs: damageNeeds
        ) { trial in
            var random = SplitMix64(seed: trial.seed &+ 1)
            let sample = try DamageSample.killed(trial)
            let changes = sample.damages(trial.damages, &random, Damage.Change.any)
            try trial.expectDamage(changes, of: sample, allows: .survived, "damaged files end no process")
        },
        Check(
            "DUR-209", "A bit that flips in a file is noticed, or does no harm",
            why: """
                The store declares that it notices. A checksum over a part, one that is not compared on some way of \
                reading, or one that is compared only when the store opens lets a wrong row through.
                """,
            tier: .stress, needs: damageNeeds + [.bitFlipDetection]
        ) { trial in
            var random = SplitMix64(seed: trial.seed)
            let sample = try DamageSample.closed(trial)
            let flips = sample.damages(2 * trial.damages, &random) { _, place, random in
                .flip(byte: place, bit: Int.random(in: 0..<8, using: &random))
            }
            try trial.expectDamage(flips, of: sample, allows: .untouched, "a bit that flipped is noticed")
        },
        Check(
            "DUR-210", "Zeros and garbage in the middle of a file are noticed, or do no harm",
            why: "A sector that was never written, or another's. The store declares that it notices changed bits.",
            tier: .stress, needs: damageNeeds + [.bitFlipDetection]
        ) { trial in
            var random = SplitMix64(seed: trial.seed)
            let sample = try DamageSample.closed(trial)
            let changes = sample.damages(trial.damages, &random) { size, place, random in
                // Zeros up to the end are what a file that was only made longer has: as if it were cut.
                let count = min(Int.random(in: 1...1_000, using: &random), max(size - 1 - place, 0))
                return Bool.random(using: &random)
                    ? .zeros(at: place, count: count) : .garbage(at: place, count: count, seed: random.next())
            }
            try trial.expectDamage(changes, of: sample, allows: .untouched, "changed bytes are noticed")
        },
    ]
}

extension Set<DamageFinding.Verdict> {
    /// What may become of a file that lost something.
    fileprivate static let someCommit: Self = [.right, .earlier, .refused, .earlierAndRefused]
    /// What may become of a file that lost nothing, or in which damage is noticed.
    fileprivate static let untouched: Self = [.right, .refused]
    /// What may become of a file without checksums.
    fileprivate static let survived: Self = [.right, .earlier, .refused, .earlierAndRefused, .wrong]
}

extension Damage.Change {
    /// A bit, a stretch of zeros or of garbage, or several hundred bytes of it.
    fileprivate static func any(size: Int, place: Int, random: inout SplitMix64) -> Damage.Change {
        let count = [1, 4, 64, 600, 4_096].randomElement(using: &random) ?? 1
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: .zeros(at: place, count: Swift.min(count, size - place))
        case 1: .garbage(at: place, count: Swift.min(count, size - place), seed: random.next())
        default: .flip(byte: place, bit: Int.random(in: 0..<8, using: &random))
        }
    }
}
