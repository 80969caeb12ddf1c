internal import TidelineStore

extension Check {
    /// Loss of power: what of the commits is there afterwards.
    static let durabilityPower: [Check] = [
        Check(
            "DUR-001",
            "After a loss of power that takes all that was not synced, the store holds the first of its commits",
            why: """
                A file system keeps what was synced, and loses the rest. A store whose files refer to each other syncs \
                them in the right order, or opens with half a commit, or not at all.
                """,
            needs: [.faults, .survivingDeath]
        ) { trial in
            let recording = try CrashRecording(CommitScript(commits: 30, seed: trial.seed), in: trial)
            try recording.expectSurvival(.everything, count: 40)
        },
        Check(
            "DUR-002", "After a loss of power that tears the last write, the store holds the first of its commits",
            why: "A disk writes sectors, not calls: a commit whose end is missing is no commit.",
            needs: [.faults, .survivingDeath]
        ) { trial in
            let recording = try CrashRecording(CommitScript(commits: 30, seed: trial.seed), in: trial)
            try recording.expectSurvival(.tornWrite, count: 40)
        },
        Check(
            "DUR-003",
            "After a loss of power that takes earlier writes but not later ones, the store holds the first of its commits",
            why: """
                Between two syncs a disk writes in any order. A later commit in a log is worth nothing where an earlier \
                one is missing, and a head that names pages which are not there is none.
                """,
            needs: [.faults, .survivingDeath]
        ) { trial in
            let recording = try CrashRecording(CommitScript(commits: 30, seed: trial.seed), in: trial)
            try recording.expectSurvival(.earlierWrites, count: 40)
        },
        Check(
            "DUR-004",
            "After a loss of power that takes any sectors not synced, the store holds the first of its commits",
            why: "What no one thought of: each sector that was not synced is as it was at some moment of its own.",
            tier: .stress, needs: [.faults, .survivingDeath]
        ) { trial in
            let recording = try CrashRecording(CommitScript(commits: 30, seed: trial.seed), in: trial)
            try recording.expectSurvival(.anything, count: 60)
        },
        Check(
            "DUR-005", "When a commit is acknowledged, all of it has been handed to the operating system",
            why: """
                Whoever is told that a change is stored may end the process at once. What waits in a buffer of the \
                process, or for a thread in the background, is lost then.
                """,
            needs: [.faults, .survivingDeath]
        ) { trial in
            let recording = try CrashRecording(CommitScript(commits: 30, seed: trial.seed), in: trial)
            for position in recording.acknowledgements {
                let killed = PowerLoss(.nothing, seed: trial.seed)
                try recording.expectSurvival(killed, at: position, keepsAcknowledged: true)
            }
        },
        Check(
            "DUR-006", "With full durability, a loss of power takes no commit that was acknowledged",
            why: """
                Full durability is a sync before the answer: of the file, and of its folder where a name in it is new. A \
                store that declares it without syncing loses what the app was told is safe.
                """,
            needs: [.faults, .fullDurability]
        ) { trial in
            let recording = try CrashRecording(CommitScript(commits: 30, seed: trial.seed), in: trial)
            for position in recording.acknowledgements {
                let loss = PowerLoss(.everything, seed: trial.seed)
                try recording.expectSurvival(loss, at: position, keepsAcknowledged: true)
            }
            for extent in [PowerLoss.Extent.earlierWrites, .anything] {
                try recording.expectSurvival(extent, count: 20, keepsAcknowledged: true)
            }
        },
    ]
}
