internal import TidelineStore

/// Reads a damaged store in every way, and compares with the states of the commits of ``KnownContent``.
struct DamageInspection {
    /// The codes of errors that report damage; `notAStore` where the bytes that identify the store are damaged.
    private static let codes: Set<StoreError.Code> = [.corrupt, .notAStore, .newerFormat, .io]

    private let folder: String
    private let harness: StoreHarness
    /// The commits that are consistent with all answers so far.
    private var candidates = Array(KnownContent.states.indices)
    private var refusals: [StoreError] = []
    /// The first answer that is consistent with no commit.
    private var wrongAnswer: String?

    /// Returns the findings for the store in a directory.
    static func finding(in folder: String, _ harness: StoreHarness) -> DamageFinding {
        var inspection = DamageInspection(folder: folder, harness: harness)
        do {
            try inspection.inspect()
            var finding = inspection.finding
            finding.otherCode = inspection.refusals.first { $0.code == .io }?.code
            return finding
        } catch {
            return DamageFinding(verdict: .badError, detail: ChildFailure(error).message)
        }
    }

    private init(folder: String, harness: StoreHarness) {
        self.folder = folder
        self.harness = harness
    }

    private mutating func inspect() throws {
        let opening = StoreOpening(directory: folder)
        guard let store = try attempt({ [harness] in try harness.open(opening) }) else { return }
        defer { try? store.close() }
        try readAll(store)
        guard refusals.isEmpty else { return }
        // A store that reads as intact must also accept changes.
        try attempt {
            try store.define(KnownContent.tables)
            try store.write { try KnownContent.apply(0, to: $0) }
            try store.delete(matching: TableQuery(KnownContent.items.name))
            try store.close()
        }
    }

    /// Returns the answer of a call, or `nil` if it reports damage.
    @discardableResult
    private mutating func attempt<T>(_ call: () throws -> T) throws -> T? {
        do {
            return try call()
        } catch let error as StoreError where Self.codes.contains(error.code) {
            refusals.append(error)
            return nil
        }
    }

    private var finding: DamageFinding {
        if let wrongAnswer { return DamageFinding(verdict: .wrong, detail: wrongAnswer) }
        let isLast = candidates.last == KnownContent.states.indices.last
        guard let error = refusals.first else {
            let step = candidates.last ?? 0
            let state = step == 0 ? "no table exists" : "the state is that of commit \(step - 1)"
            return DamageFinding(
                verdict: isLast ? .right : .earlier, detail: "\(state), of \(KnownContent.commits) commits")
        }
        let verdict: DamageFinding.Verdict = isLast ? .refused : .earlierAndRefused
        guard let vague = refusals.first(where: { !namesPlace($0) }) else {
            return DamageFinding(verdict: verdict, detail: "\(error)")
        }
        return DamageFinding(verdict: .vague, detail: "\(vague)")
    }

    /// Whether an error names the damaged object: a file or directory of the store, or a row.
    private func namesPlace(_ error: StoreError) -> Bool {
        error.path?.contains(folder) ?? (error.table != nil || error.message.contains(folder))
    }

    /// Keeps the commits that are consistent with an answer.
    private mutating func keep(_ answer: String, where difference: (KnownContent.State) -> String?) {
        let agreeing = candidates.filter { difference(KnownContent.states[$0]) == nil }
        if !agreeing.isEmpty {
            candidates = agreeing
        } else if wrongAnswer == nil {
            let nearest = candidates.last.flatMap { difference(KnownContent.states[$0]) } ?? ""
            wrongAnswer = "\(answer): \(nearest)"
        }
    }
}

// MARK: - Reading

extension DamageInspection {
    private mutating func readAll(_ store: any LocalStore) throws {
        guard let names = try attempt({ try store.tables().map(\.name) }) else { return }
        keep("tables()") { state in
            state.keys.sorted() == names ? nil : "found \(names), expected \(state.keys.sorted())"
        }
        for table in KnownContent.tables where names.contains(table.name) {
            try scan(table, in: store)
            try lookUp(table, in: store)
        }
    }

    private mutating func scan(_ table: TableSchema, in store: any LocalStore) throws {
        for order in [[]] + table.indexes.map({ $0.columns.map { OrderTerm($0) } }) {
            var query = TableQuery(table.name)
            query.order = order
            guard let rows = try attempt({ try store.read { try $0.rows(matching: query).rows } }) else { continue }
            let found = rows.sorted { Self.precedes($0.id, $1.id) }
            keep("the rows of \(query.swiftSource)") { state in
                RowDifference(found: found, expected: state[table.name]?.rows ?? [])?.description
            }
        }
    }

    private mutating func lookUp(_ table: TableSchema, in store: any LocalStore) throws {
        for id in KnownContent.ids[table.name] ?? [] {
            let answer = try attempt { try store.read { try $0.row(in: table.name, id: id).map { [$0] } ?? [] } }
            guard let found = answer else { continue }
            keep("the row \(id.text.debugDescription) of \(table.name)") { state in
                let expected = state[table.name]?[id]
                return RowDifference(found: found, expected: expected.map { [$0] } ?? [])?.description
            }
        }
    }

    private static func precedes(_ a: RowID?, _ b: RowID?) -> Bool {
        guard case .int(let left)? = a, case .int(let right)? = b else { return (a?.text ?? "") < (b?.text ?? "") }
        return left < right
    }
}
