internal import TidelineStore

extension ServerCheckContext {
    /// Calls `body`. A promise that it finds broken is a failure, also if the check has a tolerance.
    func mustHold(_ body: () async throws -> Void) async throws {
        do { try await body() } catch let error as BrokenPromise {
            throw BrokenPromise(error.description, isTolerable: false)
        }
    }

    /// Fails unless a condition holds.
    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        guard condition else { throw BrokenPromise(message()) }
    }

    /// Fails unless a value equals the expected one.
    func expect<T: Equatable>(_ found: T, is expected: T, _ what: @autoclosure () -> String) throws {
        guard found == expected else {
            throw BrokenPromise("\(what()): found \(Self.text(found)), expected \(Self.text(expected))")
        }
    }

    /// Fails unless a response has one of the statuses.
    func expect(_ answer: ServerAnswer, has statuses: Int..., what: @autoclosure () -> String) throws {
        guard !statuses.contains(answer.status) else { return }
        let expected = statuses.map(String.init).joined(separator: " or ")
        throw BrokenPromise("\(what()): expected \(expected), but \(answer.summary)")
    }

    /// Fails unless a response is a success.
    func expectSuccess(_ answer: ServerAnswer, _ what: @autoclosure () -> String) throws {
        guard !answer.isSuccess else { return }
        throw BrokenPromise("\(what()): expected success, but \(answer.summary)")
    }

    /// Fails unless two responses show the same version of a row, with the same values.
    func expect(_ found: ServerRow, shows expected: ServerRow, _ what: @autoclosure () -> String) throws {
        try expect(found.id, is: expected.id, "\(what()), id")
        try expect(found.version, is: expected.version, "\(what()), version")
        try expect(found.updatedAt, is: expected.updatedAt, "\(what()), updatedAt")
        for column in ["mark", "text", "number", "price", "done", "due"] {
            try expect(found[column], is: expected[column], "\(what()), \(column)")
        }
    }

    /// Fails unless a filter finds the rows of this check with these texts, in any order.
    ///
    /// - Parameter needed: The texts without which no tolerance applies.
    func expect(_ predicate: RowPredicate, finds texts: [String], atLeast needed: [String] = []) async throws {
        let found = try await list(predicate)
        try await expect(found, shows: texts, atLeast: needed, "the texts of \(found.answer.summary)")
    }

    /// Fails unless a filter, sent as it is, finds the rows of this check with these texts, in any order.
    ///
    /// - Parameter needed: The texts without which no tolerance applies.
    func expect(filter: String, finds texts: [String], atLeast needed: [String] = []) async throws {
        let answer = try await tryList(filter: filter)
        try expect(answer, has: 200, what: "the filter \(filter)")
        try await expect(answer.page(), shows: texts, atLeast: needed, "the filter \(filter)")
    }

    private func expect(
        _ page: ServerPage, shows texts: [String], atLeast needed: [String], _ what: String
    ) async throws {
        let found = page.rows.map { $0.text ?? "" }.sorted()
        try await mustHold { try expect(found.filter(needed.contains), is: needed, what) }
        try expect(found, is: texts.sorted(), what)
    }

    private static func text<T>(_ value: T) -> String {
        var text = String(reflecting: value)
        if text.hasPrefix("Optional("), text.hasSuffix(")") { text = String(text.dropFirst(9).dropLast()) }
        return text.count > 600 ? "\(text.prefix(600))… (\(text.count) characters)" : text
    }
}
