import Testing
import TidelineTestStores

@testable import Tideline

/// The stored bodies of requests: only those with an unknown outcome, and only as much as recognition needs.
@Suite("Sent bodies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct SentBodiesTests {
    static let refusals: [Script] = [400, 403, 422].map {
        Script(
            "P1 a body refused with \($0) is removed: the next one names only the differences",
            "update a=bad; answer \($0); push errors rejected; error status=\($0); unsure 0",
            #"update a=one priority=2; clear; push; sent [PATCH a {"priority":2}]"#)
    }

    @Test("P1 a refused body is removed", .zumoOnly, arguments: StoreKind.perEngine, refusals)
    func refused(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    static let scripts: [Script] =
        [
            Script(
                "P6 the number of kept bodies is bounded, and the newest is still recognized",
                (1...20).map { "update a=edit\($0); lose \($0 < 20 ? "request" : "answer"); push fails network" }
                    .joined(separator: "; "),
                "unsure \(TableOperation.maximumSent); push; local [a=edit20] queue [] server [a=edit20]"),
            Script(
                "P6 a body is kept if it alone names a column, so that a value it may have written is cleared",
                "insert b=b priority=7; lose answer; push fails network; update b priority=null",
                (1...12).map { "update b effort=\($0).5; lose request; push fails network" }.joined(separator: "; "),
                "update b effort=null; push; remote b priority=null effort=null"),
            // The server executes the request and answers 503; the next attempt is refused.
            Script(
                "P6 a body that was refused after an attempt with an unknown outcome is kept, in one push",
                "update a=two; once carry out 503; answer 403; push errors rejected; error status=403; unsure 1",
                "push; local [a=two] queue [] server [a=two]"),
            Script(
                "P6 a body that was refused after an attempt with an unknown outcome is kept, in two pushes",
                "update a=two; lose answer; push fails network",
                "answer 403; push errors rejected; error status=403; unsure 1",
                "push; local [a=two] queue [] server [a=two]"),
            Script(
                "P6 an insert that met a row of others was not carried out, so that its delete leaves that row alone",
                "other insert b=theirs; insert b=mine; push errors conflict; unsure 0; delete b; queue []",
                "pull; local [a=one, b=theirs] queue [] server [a=one, b=theirs]"),
        ]
        + [400, 403, 422].map {
            Script(
                "P6 a lone refusal with \($0) tells that an insert was not carried out",
                "insert b=new; answer \($0); push errors rejected; unsure 0; delete b; queue []",
                "push; local [a=one] queue [] server [a=one]")
        }
        + [302, 501].map {
            Script(
                "P6 an answer \($0), which may be a proxy's, does not tell that an insert was not carried out",
                "insert b=new; carry out \($0); push errors rejected; unsure 1; delete b; queue [delete b]",
                "push; local [a=one] queue [] server [a=one, b deleted]")
        }

    @Test("P6 a body is kept while it may have been applied", arguments: StoreKind.perEngine, scripts)
    func kept(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "P6 JSON is compared by content, and true is not 1",
        arguments: [
            ("[true]", "[1]", false), ("[false]", "[0]", false), (#"{"a":true}"#, #"{"a":1}"#, false),
            ("[1]", "[1.0]", true), ("[1]", "[\"1\"]", false), ("[null]", "[]", false), ("[null]", "[null ]", true),
            (#"{"a":1,"b":[2]}"#, #"{ "b":[2], "a":1 }"#, true), ("[1,2]", "[2,1]", false),
            ("[9007199254740993]", "[9007199254740992]", false), ("[true]", "[ true ]", true),
        ])
    func json(server: String, sent: String, isSame: Bool) {
        #expect(RowCodec(schema: World.schema).shows(["tags": .json(server)], ["tags": .json(sent)]) == isSame)
    }
}
