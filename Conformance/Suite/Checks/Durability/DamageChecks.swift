internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Damaged files.
    static let durabilityDamage = (durabilityLostParts + durabilityChangedBytes + durabilityDamageCodes)
        .needing(.persistence, .damage, .process)

    /// The codes of the errors that report damage.
    private static let durabilityDamageCodes: [Check] = [
        Check(
            "DUR-211", "An error that reports damaged content has the code corrupt, never io",
            why: "After `io` an app tries again; after `corrupt` it restores a backup or pulls everything again."
        ) { context in
            for (name, make) in [("closed", DamageSample.closed), ("killed", DamageSample.killed)] {
                let context = context.part(in: try context.folder(name))
                let sample = try make(context)
                let changes =
                    sample.ofEachFile { .garbage(at: $0 / 4, count: $0 / 2, seed: context.seed) }
                    + sample.ofEachFile { .zeros(at: $0 / 4, count: $0 / 2) } + sample.ofEachFile { .cut(to: $0 / 2) }
                    + sample.ofEachFile { .cut(to: max($0 - 1, 1)) }
                    + sample.ofEachFile { .garbage(at: 0, count: $0, seed: context.seed) }
                try context.expectDamage(
                    changes, of: sample, allows: .survived, allowsIO: false,
                    "damage is reported with another code than io")
            }
        }
    ]

    /// Files with missing or additional content.
    private static let durabilityLostParts: [Check] = [
        Check(
            "DUR-201", "A store with a truncated file reports an error or has the state after some commit",
            why: """
                A power loss may leave a truncated log, so the store may return to an earlier complete commit. It is an \
                error if it returns rows that never existed together, if rows are missing from an index, or if the \
                process dies. Copies of a closed store are truncated at many positions.
                """,
            tier: .stress
        ) { context in try context.expectCutsReported(in: .closed(context)) },
        Check(
            "DUR-202",
            "A store left by a killed process and truncated reports an error or has the state after some commit",
            why: "Like DUR-201, for a store that was not closed: its last commits are in a log read at opening.",
            tier: .stress
        ) { context in try context.expectCutsReported(in: .killed(context)) },
        Check(
            "DUR-203", "A store with a missing file reports an error or has the state after some commit",
            why: "An incomplete backup must not return rows of different commits."
        ) { context in try context.expectRemovalsReported(in: .closed(context)) },
        Check(
            "DUR-204",
            "A store left by a killed process with a file missing reports an error or has the state after a commit"
        ) { context in try context.expectRemovalsReported(in: .killed(context)) },
        Check(
            "DUR-205", "A store with extra bytes at the end of a file is read correctly or reports an error",
            why: "No committed data is lost, so returning to an earlier commit is not allowed."
        ) { context in
            let sample = try DamageSample.closed(context)
            let appended = [1, 100, 5_000].flatMap { count in
                sample.ofEachFile { .garbage(at: $0, count: count, seed: context.seed) }
                    + sample.ofEachFile { .zeros(at: $0, count: count) }
            }
            try context.expectDamage(
                appended, of: sample, allows: .untouched,
                "a store with extra bytes in a file is correct or reports an error")
        },
        Check(
            "DUR-206", "A store with garbage in place of a file is read correctly or reports an error",
            why: """
                The file may belong to another program or come from a failing disk; the error is corrupt or notAStore. \
                A store that starts again destroys data that a repair or a backup of the other files could recover.
                """
        ) { context in
            let sample = try DamageSample.closed(context)
            let sizes: [(Int) -> Int] = [{ $0 }, { _ in 100 }, { _ in 20_000 }]
            let replaced = sizes.flatMap { size in
                sample.ofEachFile { .replaced(count: size($0), seed: context.seed) }
            }
            try context.expectDamage(
                replaced, of: sample, allows: .untouched, "a store with garbage in place of a file reports it")
        },
    ]
}

extension Check {
    /// Files with modified bytes.
    fileprivate static let durabilityChangedBytes: [Check] = [
        Check(
            "DUR-207",
            "Modified bytes never crash the process, and no call hangs or throws an error that is not about damage",
            why: "Values may be wrong without checksums, but lengths and positions must be validated before use.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            let sample = try DamageSample.closed(context)
            let changes = sample.damages(2 * context.damages, &random, Damage.Change.any)
            try context.expectDamage(changes, of: sample, allows: .survived, "damaged files do not crash the process")
        },
        Check(
            "DUR-208", "Modified bytes in a store left by a killed process never crash the process",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed &+ 1)
            let sample = try DamageSample.killed(context)
            let changes = sample.damages(context.damages, &random, Damage.Change.any)
            try context.expectDamage(changes, of: sample, allows: .survived, "damaged files do not crash the process")
        },
        Check(
            "DUR-209", "A flipped bit in a file is detected or has no effect",
            why: "The store declares that it detects this. A checksum not verified on every read path is too little.",
            tier: .stress, needs: [.bitFlipDetection]
        ) { context in
            var random = SplitMix64(seed: context.seed)
            let sample = try DamageSample.closed(context)
            let flips = sample.damages(2 * context.damages, &random) { _, place, random in
                .flip(byte: place, bit: Int.random(in: 0..<8, using: &random))
            }
            try context.expectDamage(flips, of: sample, allows: .untouched, "a flipped bit is detected")
        },
        Check(
            "DUR-210", "Zeros and garbage in the middle of a file are detected or have no effect",
            why: "A sector may be unwritten, or belong to another file. The store declares that it detects this.",
            tier: .stress, needs: [.bitFlipDetection]
        ) { context in
            var random = SplitMix64(seed: context.seed)
            let sample = try DamageSample.closed(context)
            let changes = sample.damages(context.damages, &random) { size, place, random in
                // Zeros up to the end are equivalent to a truncated file that was only extended.
                let count = min(Int.random(in: 1...1_000, using: &random), max(size - 1 - place, 0))
                return Bool.random(using: &random)
                    ? .zeros(at: place, count: count) : .garbage(at: place, count: count, seed: random.next())
            }
            try context.expectDamage(changes, of: sample, allows: .untouched, "modified bytes are detected")
        },
    ]
}

extension CheckContext {
    /// Fails unless truncated files are reported or leave the state after some commit.
    fileprivate func expectCutsReported(in sample: DamageSample) throws {
        var random = SplitMix64(seed: seed)
        let cuts = sample.damages(damages, &random) { _, place, _ in .cut(to: place) }
        try expectDamage(cuts, of: sample, allows: .someCommit, "a store with a truncated file reports it")
    }

    /// Fails unless missing files are reported or leave the state after some commit.
    fileprivate func expectRemovalsReported(in sample: DamageSample) throws {
        let removals = sample.ofEachFile { _ in .removed }
        try expectDamage(removals, of: sample, allows: .someCommit, "a store with a missing file reports it")
    }
}

extension Set<DamageFinding.Verdict> {
    /// The allowed findings for a file that lost content.
    fileprivate static let someCommit: Self = [.right, .earlier, .refused, .earlierAndRefused]
    /// The allowed findings for a file that lost nothing, or whose damage is detected.
    fileprivate static let untouched: Self = [.right, .refused]
    /// The allowed findings for a file without checksums.
    fileprivate static let survived: Self = [.right, .earlier, .refused, .earlierAndRefused, .wrong]
}

extension Damage.Change {
    /// Returns a flipped bit, a range of zeros or garbage, or several hundred bytes of garbage.
    fileprivate static func any(size: Int, place: Int, random: inout SplitMix64) -> Damage.Change {
        let count = [1, 4, 64, 600, 4_096].randomElement(using: &random) ?? 1
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: .zeros(at: place, count: Swift.min(count, size - place))
        case 1: .garbage(at: place, count: Swift.min(count, size - place), seed: random.next())
        default: .flip(byte: place, bit: Int.random(in: 0..<8, using: &random))
        }
    }
}
