import Foundation
import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineWire

/// Random requests of several users, compared with a model.
@Suite("Rights against a model", .timeLimit(.minutes(60)))
struct RightsModelTests {
    /// The number of requests: `TIDELINE_FUZZ_ITERATIONS`, or a default for normal runs.
    private static let count =
        ProcessInfo.processInfo.environment["TIDELINE_FUZZ_ITERATIONS"].flatMap { Int($0) } ?? 2_000

    @Test("No user reads or changes a row of another, whatever the request", arguments: StoreKind.served)
    func model(_ stores: StoreKind) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var run = try ModelRun(stores, seed: seed)
        for number in 0..<Self.count {
            guard try run.step() else {
                Issue.record("request \(number) of seed \(seed)")
                return
            }
        }
        #expect(run.shown > 0 && run.hidden > 0, "seed \(seed)")
    }
}

/// A service, and what it must contain.
private struct ModelRun {
    /// A row of the model.
    struct ModelRow {
        let owner: String
        var text: String
        var count: Int
        var isDeleted = false
        var version: String
    }

    /// A filter, and its meaning for a row with an id.
    struct Filter {
        let text: String
        let matches: (String, ModelRow) -> Bool
    }

    private static let users = ["alice", "bob", "carol"]
    private static let ids = (0..<14).map { "id\($0)" }

    private var world: RightsFixture
    private var random: SplitMix64
    private var rows: [String: ModelRow] = [:]
    private var texts = 0
    /// The number of requests whose response contained rows, and of those for another user's row.
    private(set) var shown = 0
    private(set) var hidden = 0

    init(_ stores: StoreKind, seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        world = try RightsFixture(stores)
    }

    /// Sends a request, and returns whether its response and the store are as in the model.
    mutating func step() throws -> Bool {
        world.dialect = pick(DialectName.allCases)
        let user: String? = Int.random(in: 0..<20, using: &random) == 0 ? nil : pick(Self.users)
        let id = pick(Self.ids)
        let kind = Int.random(in: 0..<12, using: &random)
        let (answer, isAsExpected): (TableResponse, Bool)
        switch kind {
        case 0...2: (answer, isAsExpected) = try insert(id, user)
        case 3...4: (answer, isAsExpected) = try change(id, user)
        case 5: (answer, isAsExpected) = try delete(id, user)
        case 6: (answer, isAsExpected) = try undelete(id, user)
        case 7...8: (answer, isAsExpected) = try lookup(id, user)
        default: (answer, isAsExpected) = try list(user)
        }
        #expect(
            isAsExpected,
            "kind \(kind), \(world.dialect), \(user ?? "anonymous"), \(id): \(answer.status) \(answer.text)")
        let leak = leak(in: answer, to: user)
        #expect(leak == nil, "kind \(kind), \(world.dialect), \(user ?? "anonymous"), \(id): \(answer.text)")
        guard isAsExpected, leak == nil else { return false }
        return try stored(id) == nil
    }

    // MARK: Requests

    private mutating func insert(_ id: String, _ user: String?) throws -> (TableResponse, Bool) {
        let (text, count) = (newText(user), Int.random(in: 0..<5, using: &random))
        let (owner, isOwn) = ownerMember(user)
        let answer = world.insert(#"{"id":"\#(id)","text":"\#(text)","count":\#(count)\#(owner)}"#, as: user)
        guard let user else { return (answer, answer.status == .unauthorized) }
        guard isOwn else { return (answer, answer.status == .forbidden) }
        if let row = rows[id] {
            if row.owner != user { hidden += 1 }
            let shows = try answer.row()["text"] == .string(row.text)
            return (answer, answer.status == .conflict && shows == (row.owner == user))
        }
        guard answer.status == .created else { return (answer, false) }
        rows[id] = ModelRow(owner: user, text: text, count: count, version: try version(answer))
        return (answer, true)
    }

    private mutating func change(_ id: String, _ user: String?) throws -> (TableResponse, Bool) {
        let text = newText(user)
        let (owner, isOwn) = ownerMember(user)
        let (ifMatch, matches) = precondition(id)
        let count = Int.random(in: 0..<5, using: &random)
        let answer = world.change(id, #"{"text":"\#(text)","count":\#(count)\#(owner)}"#, as: user, ifMatch: ifMatch)
        if let refusal = try refusal(of: id, user, isOwn: isOwn, matches: matches, answer) { return (answer, refusal) }
        rows[id]?.text = text
        rows[id]?.count = count
        return (answer, try updateVersion(id, answer))
    }

    private mutating func delete(_ id: String, _ user: String?) throws -> (TableResponse, Bool) {
        let (ifMatch, matches) = precondition(id)
        let answer = world.delete(id, as: user, ifMatch: ifMatch)
        if let refusal = try refusal(of: id, user, isOwn: true, matches: matches, answer) { return (answer, refusal) }
        rows[id]?.isDeleted = true
        // A response in Datasync 3 has no body.
        let version = try world.stored(id)?["version"]?.string
        rows[id]?.version = version ?? ""
        return (answer, answer.status.kind == .successful)
    }

    private mutating func undelete(_ id: String, _ user: String?) throws -> (TableResponse, Bool) {
        let (ifMatch, matches) = precondition(id)
        let answer = world.undelete(id, as: user, ifMatch: ifMatch)
        if let refusal = try refusal(of: id, user, isOwn: true, matches: matches, restores: true, answer) {
            return (answer, refusal)
        }
        rows[id]?.isDeleted = false
        if world.dialect == .datasync3 {
            rows[id]?.text = "restored"
            rows[id]?.count = 0
        }
        return (answer, try updateVersion(id, answer))
    }

    private mutating func lookup(_ id: String, _ user: String?) throws -> (TableResponse, Bool) {
        let withDeleted = Bool.random(using: &random)
        let answer = world.lookup(id, withDeleted: withDeleted, as: user)
        guard let user else { return (answer, answer.status == .unauthorized) }
        guard let row = own(id, user) else { return (answer, answer.status == .notFound) }
        guard withDeleted || !row.isDeleted else { return (answer, answer.status == gone) }
        shown += 1
        return (answer, try answer.status == .ok && answer.row()["text"] == .string(row.text))
    }

    private mutating func list(_ user: String?) throws -> (TableResponse, Bool) {
        let withDeleted = Bool.random(using: &random)
        let filter = filter(depth: 2)
        let order = pick(["id", "id desc", "count,id", "count desc,id desc", "userId,id"])
        var options = ["$filter=\(filter.text)", "$orderby=\(order)", world.countOption]
        let skip = Int.random(in: 0..<3, using: &random)
        let top = Int.random(in: 1..<6, using: &random)
        let isPage = Bool.random(using: &random)
        if isPage { options += ["$skip=\(skip)", "$top=\(top)"] }
        if withDeleted { options.append("__includeDeleted=true") }
        if Bool.random(using: &random) { options.append("$select=\(pick(["text", "count", "userId", "id"]))") }
        let answer = world.page(options.joined(separator: "&"), as: user)
        guard let user else { return (answer, answer.status == .unauthorized) }
        let matching = rows.filter { id, row in
            row.owner == user && (withDeleted || !row.isDeleted) && filter.matches(id, row)
        }
        var ids = matching.sorted { a, b in
            let (x, y) = ((a.value.count, a.key), (b.value.count, b.key))
            switch order {
            case "id", "userId,id": return a.key < b.key
            case "id desc": return a.key > b.key
            case "count,id": return x < y
            default: return x > y
            }
        }.map(\.key)
        if isPage { ids = Array(ids.dropFirst(skip).prefix(top)) }
        let page = try answer.page()
        shown += page.rows.count
        return (answer, page.count == matching.count && page.rows.compactMap { $0["id"] as? String } == ids)
    }

    // MARK: Expectations

    /// Returns whether a request for a row is refused as it must be, or `nil` if it must succeed.
    private mutating func refusal(
        of id: String, _ user: String?, isOwn: Bool, matches: Bool, restores: Bool = false, _ answer: TableResponse
    ) throws -> Bool? {
        guard let user else { return answer.status == .unauthorized }
        guard isOwn else { return answer.status == .forbidden }
        guard let row = own(id, user) else {
            if rows[id] != nil { hidden += 1 }
            return answer.status == .notFound
        }
        if row.isDeleted, !restores { return answer.status == gone }
        guard matches else {
            return try answer.status == .preconditionFailed && answer.row()["text"] == .string(row.text)
        }
        // An undelete of a row that is not deleted changes nothing in ZUMO 2.
        if restores, !row.isDeleted, world.dialect == .zumo2 { return answer.status == .ok }
        return nil
    }

    private var gone: HTTPResponse.Status { world.dialect == .datasync3 ? .gone : .notFound }

    /// Returns the text or version of another user's row in a response, or `nil` if there is none.
    private func leak(in answer: TableResponse, to user: String?) -> String? {
        // A link repeats the filter of the request, which may guess another user's text.
        let text = (answer.text.components(separatedBy: #","nextLink""#).first ?? "") + (answer.eTag ?? "")
        for row in rows.values where row.owner != user {
            for secret in [row.text, row.version] where secret != "restored" && text.contains(secret) { return secret }
        }
        for other in Self.users where other != user && text.contains("of-\(other)-") { return other }
        return nil
    }

    /// Returns a difference between the store and the model, or `nil` if there is none.
    private func stored(_ id: String) throws -> String? {
        let row = try world.store.read { try $0.row(in: "Note", id: id) }
        let expected = rows[id]
        let isSame =
            row?["userId"]?.string == expected?.owner && row?["text"]?.string == expected?.text
            && row?["deleted"]?.bool == expected?.isDeleted && row?["version"]?.string == expected?.version
        #expect(isSame, "\(id): \(String(describing: row)), expected \(String(describing: expected))")
        return isSame ? nil : id
    }

    private func own(_ id: String, _ user: String) -> ModelRow? { rows[id].flatMap { $0.owner == user ? $0 : nil } }

    private func version(_ answer: TableResponse) throws -> String { try answer.row()["version"]?.string ?? "" }

    private mutating func updateVersion(_ id: String, _ answer: TableResponse) throws -> Bool {
        guard answer.status == .ok else { return false }
        let version = try version(answer)
        rows[id]?.version = version
        return true
    }

    // MARK: Random parts

    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

    private mutating func newText(_ user: String?) -> String {
        texts += 1
        return "of-\(user ?? "nobody")-\(texts)"
    }

    /// Returns a member that names an owner, or an empty text, and whether the owner may be the user.
    private mutating func ownerMember(_ user: String?) -> (String, isOwn: Bool) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let owner = pick(Self.users)
            return (#","userId":"\#(owner)""#, owner == user)
        case 1: return (#","userId":null"#, true)
        default: return ("", true)
        }
    }

    /// Returns a value for `If-Match`, which may be the version of another user's row, and whether the row matches it.
    private mutating func precondition(_ id: String) -> (String?, matches: Bool) {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return ("*", true)
        case 1: return ("\"none\"", false)
        case 2, 3:
            guard let version = rows[id]?.version else { return (nil, true) }
            return (ETag.quote(version), true)
        default: return (nil, true)
        }
    }

    private mutating func filter(depth: Int) -> Filter {
        if depth > 0, Int.random(in: 0..<2, using: &random) == 0 {
            let (a, b) = (filter(depth: depth - 1), filter(depth: depth - 1))
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return Filter(text: "(\(a.text) and \(b.text))") { a.matches($0, $1) && b.matches($0, $1) }
            case 1: return Filter(text: "(\(a.text) or \(b.text))") { a.matches($0, $1) || b.matches($0, $1) }
            default: return Filter(text: "not (\(a.text))") { !a.matches($0, $1) }
            }
        }
        let number = Int.random(in: -1..<5, using: &random)
        let user = pick(Self.users)
        let id = pick(Self.ids)
        // A guess of another user's text.
        let text = rows.values.map(\.text).sorted().randomElement(using: &random) ?? "none"
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return Filter(text: "count ge \(number)") { $1.count >= number }
        case 1: return Filter(text: "count ne \(number)") { $1.count != number }
        case 2: return Filter(text: "count add 1 gt \(number)") { $1.count + 1 > number }
        case 3: return Filter(text: "userId eq '\(user)'") { $1.owner == user }
        case 4: return Filter(text: "userId ne '\(user)'") { $1.owner != user }
        case 5: return Filter(text: "userId gt '\(user)'") { $1.owner > user }
        case 6: return Filter(text: "id eq '\(id)'") { name, _ in name == id }
        case 7: return Filter(text: "text eq '\(text)'") { $1.text == text }
        case 8: return Filter(text: "startswith(text,'of-\(user)')") { $1.text.hasPrefix("of-\(user)") }
        case 9:
            return Filter(text: "replace(userId,'\(user)','x') eq 'x'") { $1.owner == user }
        case 10: return Filter(text: "concat(userId,'x') ne '\(user)x'") { $1.owner != user }
        default: return Filter(text: "deleted eq true") { $1.isDeleted }
        }
    }
}
