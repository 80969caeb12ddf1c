internal import TidelineStore

extension Check {
    /// Power loss: the commits that are present afterwards.
    static let durabilityPower: [Check] = [
        Check(
            "DUR-001",
            "After a power loss that loses all unsynced data, the store holds a prefix of its commits",
            why: "If files that refer to each other are synced in the wrong order, a commit is partial or unreadable.",
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
            why: "Between syncs a disk writes in any order: commits and headers may refer to pages that are missing.",
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
            why: "Data in a buffer of the process, or pending on a background thread, is lost if the process ends.",
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
            why: "Full durability is a sync before the acknowledgement: of the file, and of its folder for new names.",
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

    /// Power loss during extensive changes. With full durability, no acknowledged commit may be missing.
    static let durabilityCrashes: [Check] = [
        Check(
            "DUR-007", "A power loss during a definition leaves all of it or nothing, with every row",
            why: "A definition is one commit. A partial one is a table without its index, or an index lacking rows."
        ) { context in
            let recording = try CrashRecording(evolving(context), in: context)
            for extent in harshest {
                try recording.expectSurvival(extent, count: 16, keepsAcknowledged: recording.isFullyDurable)
            }
        },
        Check(
            "DUR-008", "A store whose creation was interrupted by a power loss opens or is created again",
            why: "An app whose first start was interrupted cannot ask the user to remove an unfinished store."
        ) { context in
            let recording = try CrashRecording(ofCommits: 1, in: context)
            let end = recording.acknowledgements.dropFirst().first ?? recording.log.entries.count
            for extent in PowerLoss.Extent.allCases {
                try recording.expectSurvival(extent, count: 12, in: 0...end)
            }
        },
        Check(
            "DUR-009", "A power loss during commits of many pages leaves a prefix of the commits",
            why: "A large commit is written in many calls. With full durability, it is acknowledged after their sync."
        ) { context in
            var script = CommitScript(commits: 2, seed: context.seed)
            for _ in 0..<4 { script.change(rows: 6, longest: 60_000, ids: 10) }
            let recording = try CrashRecording(script, in: context)
            for extent in harshest {
                try recording.expectSurvival(extent, count: 12, keepsAcknowledged: recording.isFullyDurable)
            }
        },
        Check(
            "DUR-010", "A power loss while a store is closed, opened, or compacted leaves a prefix of the commits",
            why: "While data moves out of a log, neither copy is reliable yet; full durability still loses no commit."
        ) { context in
            var script = CommitScript(commits: 2, seed: context.seed)
            for _ in 0..<12 * context.rounds { script.change(rows: 20, longest: 2_000, ids: 60) }
            script.clear(ids: 60)
            for _ in 0..<4 { script.change(rows: 20, longest: 2_000, ids: 60) }
            let recording = try CrashRecording(script, in: context, reopeningEvery: 4)
            for extent in harshest {
                try recording.expectSurvival(extent, count: 16, keepsAcknowledged: recording.isFullyDurable)
            }
        },
        Check(
            "DUR-011", "A store that recovered from a power loss accepts new commits and keeps them",
            why: "The rest of a torn commit must not appear between earlier and later commits."
        ) { context in
            let recording = try CrashRecording(ofCommits: 12, in: context)
            for extent in harshest {
                try recording.expectSurvival(
                    extent, count: 16, keepsAcknowledged: recording.isFullyDurable,
                    goesOn: { try expectGoesOn($0, $1, $2, context) })
            }
        },
        Check(
            "DUR-012",
            "A second power loss, during recovery from the first, leaves the state after the first",
            why: "A recovery rewrites files, too: if it is interrupted, the next one must find the same data.",
            tier: .stress
        ) { context in
            let recording = try CrashRecording(ofCommits: 12, in: context)
            try recording.expectRecovery(surviving: harshest, count: 10)
        },
    ].needing(.faults, .survivingDeath)
}

private let harshest: [PowerLoss.Extent] = [.everything, .tornWrite, .earlierWrites, .anything]

private func evolving(_ context: CheckContext) -> CommitScript {
    var script = CommitScript(commits: 4, seed: context.seed)
    script.evolve()
    script.change()
    var notes = TableSchema.notes
    notes.indexes = [["number"], ["text"]]
    script.define([notes, TableSchema("Later", columns: [.int("number")], indexes: [["number"]])], redefines: true)
    script.change()
    return script
}

private func expectGoesOn(_ store: any LocalStore, _ state: StoreState, _ folder: String, _ context: CheckContext)
    throws
{
    var script = CommitScript(seed: context.seed)
    script.define([.items, .notes])
    script.change(rows: 8, longest: 3_000)
    script.change()
    var state = state
    for step in script.steps {
        try store.perform(step)
        state = state.applying(step)
    }
    try context.expect(StoreState(of: store), isOneOf: [state], "the state after two more commits")
    try store.close()
    try context.expect(context.state(in: folder), isOneOf: [state], "the store reopened")
}
