internal import TidelineStore

extension Check {
    /// Power loss: the commits that are present afterwards.
    static let durabilityPower: [Check] = [
        Check(
            "DUR-001",
            "After a power loss that loses all unsynced data, the store holds a prefix of its commits",
            why: """
                A file system keeps synced data and may lose the rest. A store whose files refer to each other must sync \
                them in the right order; otherwise it opens with a partial commit or not at all.
                """,
            needs: [.faults, .survivingDeath]
        ) { context in try CrashRecording(ofCommits: 30, in: context).expectSurvival(.everything, count: 40) },
        Check(
            "DUR-002", "After a power loss that tears the last write, the store holds a prefix of its commits",
            why: "A disk writes sectors, not calls: a commit whose end is missing must be ignored.",
            needs: [.faults, .survivingDeath]
        ) { context in try CrashRecording(ofCommits: 30, in: context).expectSurvival(.tornWrite, count: 40) },
        Check(
            "DUR-003",
            "After a power loss that loses earlier writes but not later ones, the store holds a prefix of its commits",
            why: """
                Between two syncs a disk writes in any order. A later commit in a log is invalid if an earlier one is \
                missing, and so is a header that refers to missing pages.
                """,
            needs: [.faults, .survivingDeath]
        ) { context in try CrashRecording(ofCommits: 30, in: context).expectSurvival(.earlierWrites, count: 40) },
        Check(
            "DUR-004",
            "After a power loss that loses arbitrary unsynced sectors, the store holds a prefix of its commits",
            why: "This covers unforeseen cases: each unsynced sector has its content of some point in time.",
            tier: .stress, needs: [.faults, .survivingDeath]
        ) { context in try CrashRecording(ofCommits: 30, in: context).expectSurvival(.anything, count: 60) },
        Check(
            "DUR-005", "When a commit is acknowledged, all of it has been passed to the operating system",
            why: """
                After an acknowledgement the process may be terminated immediately. Data in a buffer of the process, or \
                pending on a background thread, is lost then.
                """,
            needs: [.faults, .survivingDeath]
        ) { context in
            let recording = try CrashRecording(ofCommits: 30, in: context)
            for position in recording.acknowledgements {
                let killed = PowerLoss(.nothing, seed: context.seed)
                try recording.expectSurvival(killed, at: position, keepsAcknowledged: true)
            }
        },
        Check(
            "DUR-006", "With full durability, a power loss loses no acknowledged commit",
            why: """
                Full durability is a sync before the acknowledgement: of the file, and of its folder if a name in it is \
                new. A store that declares it without syncing loses data that the app considers stored.
                """,
            needs: [.faults, .fullDurability]
        ) { context in
            let recording = try CrashRecording(ofCommits: 30, in: context)
            for position in recording.acknowledgements {
                let loss = PowerLoss(.everything, seed: context.seed)
                try recording.expectSurvival(loss, at: position, keepsAcknowledged: true)
            }
            for extent in [PowerLoss.Extent.earlierWrites, .anything] {
                try recording.expectSurvival(extent, count: 20, keepsAcknowledged: true)
            }
        },
    ]
}
