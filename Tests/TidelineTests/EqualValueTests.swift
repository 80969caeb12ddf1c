import Testing
import TidelineTestStores

@testable import Tideline

/// Rules P12 and C3: two devices that wrote equal values have no conflict, and equal changes of counters add up.
@Suite("Equal values", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct EqualValueTests {
    private static let sum = ConflictPolicy.merge(["priority": .sum, "effort": .sum])

    static let sums: [Script] = [
        ("priority=2", "priority=2", 3), ("priority=-1", "priority=-1", -3),
        ("priority=2 text=same", "priority=2 text=same", 3), ("priority=2 text=mine", "priority=2 text=theirs", 3),
    ].map { mine, theirs, sum in
        Script(
            "C3 sum adds equal differences: \(mine), \(theirs)",
            "other update a \(theirs); update a \(mine); push; both a priority=\(sum); queue []",
            "decisions [merge (\(mine.contains("mine") ? "text: server, " : "")priority: sum)]")
    }

    static let counters: [Script] = [
        Script(
            "C3 sum adds equal differences to a null base, and those of doubles",
            "other update a effort=0.5; update a effort=0.5; push; remote a effort=1.0"),
        Script(
            "C3 sum takes an equal value for one change if the answer to an earlier request is lost",
            "update a priority=2; lose answer; push fails network; push; both a priority=2"),
        Script(
            "C3 sum takes an equal value for one change if an earlier request is lost",
            "update a priority=2; lose request; push fails network; other update a priority=2",
            "push; both a priority=2"),
        Script(
            "C3 an insert that is delivered twice is counted once",
            "insert b priority=1; on create twice; push; remote b priority=1"),
    ]

    static let scripts: [Script] = [
        Script(
            "P12 two devices that inserted equal values have no conflict",
            "insert b=same complete=true tags=[1]; other insert b=same complete=true tags=[1]",
            "push; queue []; same b; both b text=same priority=null"),
        // The client does not have the change of the priority.
        Script(
            "P12 two devices that wrote equal values have no conflict",
            "update a=same complete=true tags=[1]; other update a=same complete=true tags=[1] priority=9",
            "push; queue []; same a; both a text=same priority=9"),
        Script(
            "P12 two devices that restored a row with equal values have no conflict",
            "delete a; insert a=again; other delete a; other undelete a; other update a=again priority=null",
            "push; queue []; same a"),
        Script(
            "P12 two devices that deleted one row have no conflict",
            "delete a; other delete a; push; local [] queue [] server [a deleted]"),
        // In the end, the user takes the other value.
        Script(
            "P12 an edit that is equal only in part is a conflict",
            "other update a=same priority=3; update a=same priority=4; push errors conflict",
            "update a priority=3; push; queue []; same a"),
        Script(
            "P12 edits made during a request whose values are equal stay, and are sent",
            "other update a=same; update a=same; on update afterwards update a priority=7",
            "push; push; remote a priority=7 text=same; queue []"),
    ]

    @Test(
        "C3, P12 equal values are no conflict, and equal changes add up", arguments: StoreKind.perEngine,
        (sums + counters).map { $0.with { $0.conflictPolicy = sum } } + scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }
}
