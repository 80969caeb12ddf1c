import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A test of one client, told as steps: `update a=two; lose answer; push fails network; queue [update a]`.
///
/// The client starts in sync with the row `a` (``World/makeSyncedClient(store:configure:)``), or without rows if the
/// first step is `empty`. ``StepPlayer`` lists the steps.
struct Script: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [String]
    var configure: @Sendable (inout SyncOptions) -> Void = { _ in }
    var serve: @Sendable (inout TableServiceOptions) -> Void = { _ in }

    /// - Parameter steps: The steps, each text with one or several, separated by semicolons.
    init(_ name: String, _ steps: String...) {
        testDescription = name
        self.steps = steps.flatMap { $0.split(separator: "; ").map(String.init) }
    }

    /// Returns the script with other options of its client.
    func with(_ configure: @escaping @Sendable (inout SyncOptions) -> Void) -> Script {
        var script = self
        script.configure = configure
        return script
    }

    /// Returns the script with other options of its server.
    func served(by serve: @escaping @Sendable (inout TableServiceOptions) -> Void) -> Script {
        var script = self
        script.serve = serve
        return script
    }

    /// Plays the steps over stores of one kind.
    func play(_ stores: StoreKind) async throws {
        let player = try await StepPlayer(World(stores, change: serve), self)
        for (number, step) in steps.enumerated() where step != "empty" {
            do {
                try await player.run(step)
            } catch {
                throw StepFailure(description: "\(testDescription): step \(number + 1), '\(step)': \(error)")
            }
        }
        await player.end()
    }
}

/// The failure of a step, with its text and what was found.
struct StepFailure: Error, CustomStringConvertible { let description: String }

/// Plays the steps of a ``Script`` against a real client, store, and table service.
///
/// A ROW is `a=two priority=9`: the identifier, its text, and other columns; a text with spaces is in single quotes.
///
/// - Actions: `insert ROW`, `update ROW`, `delete ID`, `push`, `push singly`, `push again` (conflicts too),
///   `pull [QUERY]` with `COLUMN=VALUE` or `COLUMN!=VALUE` as its filter, `order=COLUMN`, `skip=ROWS`, `top=ROWS`, and
///   the settings `others` (if the push fails), `refilter` (if the filter changes), `page=ROWS`, `lookback=SECONDS`,
///   and `leavers=SECONDS`; `reset [QUERY]` of its token, `purge`, `purge rows` (keeps the tokens), `restart`. The
///   outcome is a success, or ` fails CODE`; for a push or a pull also ` errors CODE …`, the codes of its operations.
/// - Others: `other ACTION` of another client that has pulled all rows and then pushes; `other undelete ID`; `erase ID`
///   and `fill ROW` change the server's table, and so does `plant a@TICKS 9@FIRST+STEP COLUMN=VALUE …` with rows of
///   these timestamps, here `a` and nine rows `r000`, …; `forget ID` (or `*`) and `write ROW` the client's;
///   `clock SECONDS`.
/// - `delegate PART & …` takes part in the operations of all pushes until `no delegate`. A part is `only ID` (others
///   are only executed), `sees ROW`, `execute`, `ignore` (execute, and ignore the outcome), `conflict TEXT` (execute,
///   which must end in a conflict with such a row), then `rebase` (on the server's version) or `take` (its row);
///   `set ROW`, `unset COLUMN`, `item ROW`, `kind KIND`, `return ROW`, `return nil`, `throw`, `abandon` (throws a
///   `CancellationError`), `cancel` (the push), or any other step.
/// - Faults of the next push or pull: `lose answer`, `lose request`, `fail CODE`, `answer STATUS [BODY]`,
///   `impose STATUS [BODY]` (of something else than the service), `carry out STATUS [BODY]` (the server executes the
///   request, and this is the answer), `echo STATUS` (with the body of the request), `replace OLD NEW` in the answer,
///   `twice`, and once `meanwhile STEP` (before the request) and `afterwards STEP` (before its answer); `each STEP`
///   before every request; `undated`, an answer without a `Date` header. `on WHICH FAULT` limits a fault to requests
///   that are an `update`, a `create`, any `change`, a `list` or a `lookup` of identifiers, of a method, of a number
///   (`#2`, `>2`), or have a text in quotes in their body; `once FAULT` to the first of them.
/// - Resolutions of the first error of the last push: `discard`, `settle ROW`, `keep ROW`, `modify KIND`; with `server`
///   or `item` before it, a ROW is merged into that row of the error, with `remote` into the row of the server.
/// - Expectations: `local […]`, `queue […]`, `server […]` as in ``World/state(_:)-(Client)``; `errors [a conflict]`,
///   those stored; `failed [a]`, those of the last push or pull; `error KEY=VALUE …` of the first of these, where a key
///   is `table`, `kind`, `code`, `status`, `message`, `says` (a part of the message), `cause` (its type), `gone`,
///   `item.COLUMN`, or `server.COLUMN`; without one, `code`, `table`, `column`, `id`, `status`, or `says` of the error;
///   `row ROW`, `remote ROW`, `both ROW`, where the version `?` is that of `remember ID`; `same ID`, the version on
///   both sides; `bases [?]`, `attempts [1 0]`, `problems [nil]`, and `unsure N` (bodies that may have arrived) of the
///   queue, and `pulled TEXT`, if the row that a pull has stored beside the first operation contains it; `requests N`,
///   `listed N` (for identifiers), `asks TEXT` (all), `methods [PATCH]`, and `sent [PATCH a {…}]` since `clear`;
///   `calls [update a, completed 1]` of the delegate; `texts [a, b]` of the local rows; `whole`, if these are the
///   server's; `tokens [QUERY]`; `decisions [RULE]`; of the last push `pushed N` operations; and of the last pull
///   `result KEY=N …`, where a key is `requests`, `pulled`, `stored`, `removed`, `leavers`, or `writes`.
actor StepPlayer {
    private struct Rule {
        var which = "any"
        var isOnce = false
        var fault: [String] = []
    }

    let world: World
    private let script: Script
    var client: Client
    private var rules: [Rule] = []
    private var number = 0
    var log: [String] = []
    var failures: [TableOperationError] = []
    var failure: SyncError?
    var pushed = 0
    var remembered: String?
    var delegate: ScriptedDelegate?
    var result = PullResult()
    /// The failure of a step during an exchange.
    private var interruption: (any Error)?

    init(_ world: World, _ script: Script) async throws {
        self.world = world
        self.script = script
        client =
            try await script.steps.first == "empty"
            ? world.makeClient(configure: script.configure) : world.makeSyncedClient(configure: script.configure)
        listen()
    }

    private func listen() {
        client.transport.inspect { [weak self] in await self?.receive($0, $1) }
    }

    /// Ends the inspection of requests and operations.
    func end() {
        client.transport.inspect(nil)
        client.context.delegate = nil
    }

    /// Runs a step and compares its outcome with the expected one.
    func run(_ step: String) async throws {
        let parts = step.split(separator: #/ (?=(?:fails|errors) [a-z])/#, maxSplits: 1).map(String.init)
        let expected = parts.count > 1 ? parts[1] : "succeeds"
        var words = Self.words(parts[0])
        let found: String
        do {
            if words[0] == "other" {
                words.removeFirst()
                let other = try await world.makeOther()
                try await act(words, other)
                try await other.context.push()
            } else {
                try await act(words, client)
            }
            found = "succeeds"
        } catch let error as SyncError {
            if words[0] == "push" || words[0] == "pull" { (failures, failure) = (error.operationErrors, error) }
            let codes = error.operationErrors.map(\.code.rawValue).joined(separator: " ")
            found = expected.hasPrefix("errors") ? "errors \(codes)" : "fails \(error.code.rawValue)"
        }
        if words[0] == "push" || words[0] == "pull" { (rules, number) = ([], 0) }
        if let interruption { throw interruption }
        try expect(found, expected)
    }

    private static func words(_ step: String) -> [String] {
        var (words, isQuoted) = ([""], false)
        for character in step {
            switch character {
            case "'": isQuoted.toggle()
            case " " where !isQuoted: words.append("")
            default: words[words.count - 1].append(character)
            }
        }
        return words
    }

    func expect(_ found: String, _ expected: String) throws {
        guard found == expected else { throw StepFailure(description: "expected \(expected), found \(found)") }
    }

    // MARK: Actions

    private func act(_ words: [String], _ client: Client) async throws {
        let rest = Array(words.dropFirst())
        switch words[0] {
        case "insert": try await client.items.insert(Self.row(rest))
        case "update": try await client.items.update(Self.row(rest))
        case "delete": try await client.items.delete(id: rest[0])
        case "undelete": _ = try await client.client.remoteTable("TodoItem").undelete(id: rest[0])
        case "push":
            var settings = PushSettings()
            if rest == ["singly"] { settings.maxInFlight = 1 }
            settings.retriesConflicts = rest == ["again"]
            pushed = try await client.context.push(settings: settings).progress.sent
        case "pull": try await pull(rest, client)
        case "reset": try await client.context.resetToken(table: "TodoItem", queryID: rest.first)
        case "purge" where rest == ["rows"]: try await client.items.purge(resetsTokens: false)
        case "purge": try await client.items.forcePurge()
        case "restart":
            end()
            self.client = try await world.makeClient(store: client.store, configure: script.configure)
            listen()
        case "erase": try world.serverStore.write { _ = try $0.delete(id: rest[0], from: "TodoItem") }
        case "fill": try world.serverStore.write { try $0.upsert(Self.row(rest), into: "TodoItem") }
        case "plant": try world.plant(Self.planted(rest))
        case "forget":
            let all = TableQuery("TodoItem")
            let rows = rest[0] == "*" ? all : all.filter(.column("id") == .literal(.string(rest[0])))
            try client.store.write { _ = try $0.delete(matching: rows) }
        case "write": try client.store.write { try $0.upsert(Self.row(rest), into: "TodoItem") }
        case "clock": world.clock.advance(by: .seconds(Int(rest[0]) ?? 0))
        case "clear": (_, log) = (client.transport.clear(), [])
        case "remember": remembered = try world.serverRow(rest[0])?.version
        case "delegate", "no": delegate(words[0] == "no" ? [] : rest)
        case "discard", "settle", "keep", "modify": try await resolve(words[0], rest)
        default: if try !inject(words) { try await check(words) }
        }
    }

    /// Makes a row of `a=text` and `column=value`.
    private static func row(_ words: [String], over base: Row? = nil) -> Row {
        var row = base ?? Row()
        for (index, word) in words.enumerated() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if index == 0 { row.id = .string(parts[0]) }
            guard parts.count > 1 else { continue }
            row[index == 0 ? "text" : parts[0]] = value(parts[1], isText: index == 0 || parts[0] == "text")
        }
        return row
    }

    /// Makes rows of `a@0`, `3@0+10000`, and `column=value` for all of them.
    private static func planted(_ words: [String]) -> [Row] {
        let isRow = { (word: String) in word.contains("@") && !word.contains("=") }
        return words.filter(isRow).flatMap { word in
            let parts = word.split(separator: "@").map(String.init)
            let ticks = parts[1].split(separator: "+").compactMap { Int64($0) }
            let rows =
                Int64(parts[0]).map { count in World.rows(at: (0..<count).map { ticks[0] + $0 * ticks[1] }) }
                ?? [World.row(parts[0], at: ticks[0])]
            return rows.map { row([$0.idText] + words.filter { !isRow($0) }, over: $0) }
        }
    }

    private func pull(_ words: [String], _ client: Client) async throws {
        var (query, settings) = (TableQuery("TodoItem"), PullSettings())
        var queryID: String?
        for word in words {
            let parts = word.split(separator: #/!?=/#, maxSplits: 1).map(String.init)
            let number = Int(parts.last ?? "") ?? 0
            switch parts[0] {
            case "others": settings.whenPushFails = .pullOthers
            case "refilter": settings.whenFilterChanges = .reset
            case "order": query = query.order(by: parts[1])
            case "skip": query = query.skip(number)
            case "top": query = query.limit(number)
            case "page": settings.pageSize = number
            case "lookback": settings.lookback = .seconds(number)
            case "leavers": settings.removesLeavers = .seconds(number)
            case _ where parts.count == 1: queryID = word
            case let column:
                let value = RowPredicate.literal(Self.value(parts[1], isText: column == "text"))
                query = query.filter(word.contains("!=") ? .column(column) != value : .column(column) == value)
            }
        }
        result = try await client.items.pull(query, queryID: queryID, settings: settings)
    }

    private static func value(_ text: String, isText: Bool) -> Value {
        if text == "null" { return .null }
        if isText { return .string(text) }
        if let bool = Bool(text) { return .bool(bool) }
        if let int = Int64(text) { return .int(int) }
        if let double = Double(text) { return .double(double) }
        return text.hasPrefix("[") || text.hasPrefix("{") ? .json(text) : .string(text)
    }

    private func resolve(_ way: String, _ rest: [String]) async throws {
        guard let error = failures.first else { throw StepFailure(description: "there is no error") }
        let base =
            switch rest.first {
            case "server": error.serverItem
            case "item": error.item
            case "remote": try world.serverRow(String(rest[1].prefix { $0 != "=" }))
            default: Row?.none
            }
        let row = Self.row(base == nil ? rest : Array(rest.dropFirst()), over: base)
        switch way {
        case "discard": try await error.cancelOperationAndDiscardItem()
        case "settle": try await error.cancelOperationAndUpdateItem(row)
        case "keep": try await error.keepOperationAndUpdateItem(row)
        default:
            guard let kind = OperationKind.allCases.first(where: { "\($0)" == rest.first }) else { return }
            try await error.modifyOperationType(kind)
        }
    }

    // MARK: The delegate

    private struct OwnError: Error {}

    private func delegate(_ words: [String]) {
        let parts = words.split(separator: "&").map(Array.init)
        delegate = words.isEmpty ? nil : ScriptedDelegate { [weak self] in try await self?.perform(parts, $0) }
        client.context.delegate = delegate
    }

    private func perform(_ parts: [[String]], _ operation: PushOperation) async throws -> Row? {
        var row: Row?
        var server: Row?
        for part in parts {
            let rest = Array(part.dropFirst())
            switch part[0] {
            case "only": if operation.operation.itemID != rest[0] { return try await operation.execute() }
            case "sees": do { try check(part, operation.item) } catch { interruption = error }
            case "execute": row = try await operation.execute()
            case "ignore": _ = try? await operation.execute()
            case "conflict": server = try await conflict(operation, rest[0])
            case "rebase": operation.item["version"] = server?["version"]
            case "take": row = server
            case "set": operation.item = Self.row(rest, over: operation.item)
            case "unset": operation.item[rest[0]] = nil
            case "item": operation.item = Self.row(rest)
            case "kind": operation.kind = OperationKind.allCases.first { "\($0)" == rest[0] } ?? operation.kind
            case "return": row = rest == ["nil"] ? nil : Self.row(rest)
            case "throw": throw OwnError()
            case "abandon": throw CancellationError()
            case "cancel": operation.cancelPush()
            default: try await act(part, client)
            }
        }
        return row
    }

    /// Executes an operation that ends in a conflict, and returns the server's row.
    private func conflict(_ operation: PushOperation, _ text: String) async throws -> Row? {
        do {
            _ = try await operation.execute()
            interruption = StepFailure(description: "there is no conflict")
            return nil
        } catch let failure as OperationFailure where failure.code == .conflict {
            do { try expect(Self.plain(failure.serverItem?["text"]), text) } catch { interruption = error }
            return failure.serverItem
        }
    }

    // MARK: Faults

    /// Takes a step that is a fault of the next push or pull.
    private func inject(_ words: [String]) throws -> Bool {
        var (rule, words) = (Rule(), words[...])
        if words.first == "on" { (rule.which, words) = (words[1], words.dropFirst(2)) }
        if words.first == "once" { (rule.isOnce, words) = (true, words.dropFirst()) }
        rule.fault = Array(words)
        let faults = [
            "lose", "fail", "answer", "impose", "carry", "echo", "replace", "twice", "meanwhile", "afterwards", "each",
            "undated",
        ]
        guard faults.contains(rule.fault[0]) else { return false }
        if rule.fault[0] == "meanwhile" || rule.fault[0] == "afterwards" { rule.isOnce = true }
        rules.append(rule)
        return true
    }

    private func receive(_ request: HTTPRequest, _ body: String) async -> FaultyTransport<TestStore>.Fault? {
        let target = (request.path ?? "").replacing(/\/tables\/(TodoItem\/)?/, with: "")
        log.append("\(request.method) \(target)\(body.isEmpty ? "" : " " + body)")
        number += 1
        let matching = rules.filter { matches($0.which, request, body) }
        rules.removeAll { $0.isOnce && matches($0.which, request, body) }
        let afterwards = matching.filter { $0.fault[0] == "afterwards" }
        for rule in matching {
            let step = rule.fault.dropFirst().joined(separator: " ")
            switch rule.fault[0] {
            case "meanwhile", "each": await interrupt(step)
            case "afterwards":
                let steps = afterwards.map { $0.fault.dropFirst().joined(separator: " ") }
                return .delay { for step in steps { await self.interrupt(step) } }
            case "undated": return .change { $0.without(.date) }
            case "twice": if request.method != .get { _ = world.service.handle(request, body: Array(body.utf8)) }
            case "lose": return step == "answer" ? .loseAnswer : .loseRequest
            case "echo": return .answer(.answer(Int(step) ?? 0, body))
            case "fail": return .fail(TransportError(TransportError.Code(rawValue: step), "down"))
            case "replace": return .change { $0.replacing(rule.fault[1], with: rule.fault[2]) }
            default:
                let answer = rule.fault.drop { Int($0) == nil }
                let response = TransportResponse.answer(
                    Int(answer.first ?? "") ?? 0, answer.dropFirst().joined(separator: " "))
                if rule.fault[0] == "impose" { return .answer(response.without(.serviceMark)) }
                return rule.fault[0] == "carry" ? .change { _ in response } : .answer(response)
            }
        }
        return nil
    }

    private func interrupt(_ step: String) async {
        do { try await run(step) } catch { interruption = StepFailure(description: "'\(step)': \(error)") }
    }

    private func matches(_ which: String, _ request: HTTPRequest, _ body: String) -> Bool {
        switch which {
        case "any": true
        case "update": request.isUpdate
        case "create": request.createsRow
        case "change": request.method != .get
        case "list": request.isList && !request.isLookUp
        case "lookup": request.isLookUp
        case "#\(number)": true
        case _ where which.hasPrefix(">"): number > Int(which.dropFirst()) ?? 0
        default:
            which.hasPrefix("\"") ? body.contains(which) : request.method.rawValue.lowercased() == which
        }
    }
}
