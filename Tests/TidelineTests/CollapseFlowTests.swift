import Testing
import TidelineTestStores

@testable import Tideline

/// The coalescing table end to end: from the app's call through the queue to the server's row.
@Suite("Coalescing, end to end", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct CollapseFlowTests {
    static let scripts: [Script] = [
        Script(
            "Q2 insert + insert",
            "insert b=new; insert b=changed fails rowExists; local [a=one, b=new] queue [insert b] server [a=one]",
            "push; local [a=one, b=new] queue [] server [a=one, b=new]"),
        Script(
            "Q2 insert + update",
            "insert b=new; update b=changed; local [a=one, b=changed] queue [insert b] server [a=one]",
            "push; local [a=one, b=changed] queue [] server [a=one, b=changed]"),
        Script(
            "Q2 insert + delete", "insert b=new; delete b; local [a=one] queue [] server [a=one]",
            "push; local [a=one] queue [] server [a=one]"),
        Script(
            "Q2 insert that never arrived + insert", "insert b=new; lose request; push fails network",
            "insert b=changed fails rowExists; local [a=one, b=new] queue [insert b] server [a=one]",
            "push; local [a=one, b=new] queue [] server [a=one, b=new]"),
        Script(
            "Q2 insert that never arrived + update", "insert b=new; lose request; push fails network",
            "update b=changed; local [a=one, b=changed] queue [insert b] server [a=one]",
            "push; local [a=one, b=changed] queue [] server [a=one, b=changed]"),
        Script(
            "Q2 insert that never arrived + delete", "insert b=new; lose request; push fails network",
            "delete b; local [a=one] queue [delete b] server [a=one]; push; local [a=one] queue [] server [a=one]"),
        Script(
            "Q2 insert that arrived + update", "insert b=new; lose answer; push fails network",
            "update b=changed; local [a=one, b=changed] queue [insert b] server [a=one, b=new]",
            "push; local [a=one, b=changed] queue [] server [a=one, b=changed]"),
        Script(
            "Q2 insert that arrived + delete", "insert b=new; lose answer; push fails network",
            "delete b; local [a=one] queue [delete b] server [a=one, b=new]",
            "push; local [a=one] queue [] server [a=one, b deleted]"),
        Script(
            "Q2 update + insert",
            "update a=edited; insert a=changed fails rowExists; local [a=edited] queue [update a] server [a=one]",
            "push; local [a=edited] queue [] server [a=edited]"),
        Script(
            "Q2 update + update",
            "update a=edited; update a=changed; local [a=changed] queue [update a] server [a=one]",
            "push; local [a=changed] queue [] server [a=changed]"),
        Script(
            "Q2 update + delete", "update a=edited; delete a; local [] queue [delete a] server [a=one]",
            "push; local [] queue [] server [a deleted]"),
        Script(
            "Q2 delete + insert", "delete a; insert a=changed; local [a=changed] queue [update a] server [a=one]",
            "push; local [a=changed] queue [] server [a=changed]"),
        Script(
            "Q2 delete + insert, strict",
            "delete a; insert a=changed fails noSuchRow; local [] queue [delete a] server [a=one]",
            "push; local [] queue [] server [a deleted]"
        ).with { $0.rejectsInsertOverPendingDelete = true },
        Script(
            "Q2 delete + update",
            "delete a; update a=changed fails noSuchRow; local [] queue [delete a] server [a=one]",
            "push; local [] queue [] server [a deleted]"),
        Script(
            "Q2 delete + delete", "delete a; delete a; local [] queue [delete a] server [a=one]",
            "push; local [] queue [] server [a deleted]"),
        Script(
            "Q2 an update keeps its first base version when later changes coalesce with it",
            "remember a; update a=two; update a=three; bases [?]; delete a; bases [?]; insert a=four; bases [?]"),
        Script(
            "Q2 a restored row has the columns of the insert and none of the deleted row",
            "delete a; insert a=back; row a priority=null; push; local [a=back] queue [] server [a=back]",
            "both a priority=null"),
        Script(
            "Q2 a row restored after its soft delete reached the server is restored on the server",
            "delete a; lose answer; push fails network",
            "insert a=back; push; local [a=back] queue [] server [a=back]"),
        Script(
            "Q2 a row restored after its hard delete reached the server is restored on the server",
            "delete a; lose answer; push fails network; erase a",
            "insert a=back; push; local [a=back] queue [] server [a=back]"),
        Script(
            "Q2 a restored row without content is restored on the server too",
            "delete a; lose answer; push fails network; insert a; push; local [a=null] queue [] server [a=null]"),
    ]

    @Test(
        "Q2 a change coalesces with the pending operation of its row, and the server ends with the row the app sees",
        arguments: StoreKind.perEngine, scripts)
    func collapse(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }
}
