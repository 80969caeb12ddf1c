internal import TidelineStore

extension CheckContext {
    /// Fails unless a condition holds.
    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        guard condition else { throw CheckFailure(message()) }
    }

    /// Fails unless a value equals the expected one. The overloads for rows and values compare every bit.
    func expect<T: Equatable>(_ found: T, is expected: T, _ what: @autoclosure () -> String) throws {
        guard found == expected else {
            throw CheckFailure("\(what()): found \(Self.text(found)), expected \(Self.text(expected))")
        }
    }

    /// Fails unless a value is bitwise identical to the expected one.
    func expect(_ found: Value?, is expected: Value?, _ what: @autoclosure () -> String) throws {
        guard Self.isIdentical(found, expected) else {
            throw CheckFailure("\(what()): found \(Self.text(found)), expected \(Self.text(expected))")
        }
    }

    /// Fails unless rows equal those expected, in the same order, with every value bitwise identical. A column that is
    /// present in only one of them is a difference; see ``TableSchema/completing(_:)``.
    func expect(_ found: [Row], are expected: [Row], _ what: @autoclosure () -> String) throws {
        if let difference = RowDifference(found: found, expected: expected) {
            throw CheckFailure("\(what()): \(difference)")
        }
    }

    /// Fails unless a row equals the expected one, with every value bitwise identical.
    func expect(_ found: Row?, is expected: Row?, _ what: @autoclosure () -> String) throws {
        try expect(found.map { [$0] } ?? [], are: expected.map { [$0] } ?? [], what())
    }

    /// Fails unless a query finds the rows with these identifiers, in this order.
    func expect(_ query: TableQuery, in store: TracedStore, finds ids: [RowID], _ what: @autoclosure () -> String = "")
        throws
    {
        let found = try store.read { try $0.rows(matching: query) }.rows.compactMap(\.id)
        guard found == ids else {
            let about = what().isEmpty ? "" : "\(what()): "
            throw CheckFailure("\(about)\(query.swiftSource) finds \(Self.text(found)), expected \(Self.text(ids))")
        }
    }

    /// Fails unless a query's rows, their order, total count, and count equal the evaluator's answer for these rows.
    ///
    /// - Parameter rows: All rows of the table, each with all columns.
    func expect(_ query: TableQuery, in store: TracedStore, over rows: [Row], of schema: TableSchema) throws {
        try store.read { try expect(query, in: $0, over: rows, of: schema, "in a read") }
    }

    /// Fails unless a call throws a ``StoreError`` with the given code that names what it should.
    @discardableResult
    func expectError(
        _ code: StoreError.Code, _ what: @autoclosure () -> String, table: String? = nil, column: String? = nil,
        id: String? = nil, _ body: () throws -> Void
    ) throws -> StoreError {
        do {
            try body()
        } catch let error as StoreError {
            return try Self.confirm(error, has: code, what(), table: table, column: column, id: id)
        } catch let error
            where error is CheckFailure || error is TimeOut || error is HarnessError || error is NotDecidable
        {
            throw error
        } catch {
            throw CheckFailure("\(what()): expected StoreError \(code), but \(type(of: error)) was thrown: \(error)")
        }
        throw CheckFailure("\(what()): expected StoreError \(code), but nothing was thrown")
    }

    private static func confirm(
        _ error: StoreError, has code: StoreError.Code, _ what: String, table: String?, column: String?, id: String?
    ) throws -> StoreError {
        guard error.code == code else {
            throw CheckFailure("\(what): expected StoreError \(code), but this was thrown: \(error)")
        }
        guard !error.message.isEmpty else {
            throw CheckFailure("\(what): the error has no message; a message describes the problem and the remedy")
        }
        let names = [("table", table, error.table), ("column", column, error.column), ("id", id, error.id)]
        for (name, expected, found) in names where expected != nil && expected != found {
            let found = found.map(\.debugDescription) ?? "no \(name)"
            throw CheckFailure(
                "\(what): the error should name the \(name) \(text(expected)), but names \(found): \(error)")
        }
        return error
    }

    private static func isIdentical(_ found: Value?, _ expected: Value?) -> Bool {
        switch (found, expected) {
        case (.double(let a)?, .double(let b)?): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
        default: found == expected
        }
    }

    /// Returns a value as text for a message, without `Optional`, truncated if it is long.
    static func text<T>(_ value: T) -> String {
        let text = (value as? any SwiftSource)?.swiftSource ?? String(reflecting: value)
        return text.count > 600 ? "\(text.prefix(600))… (\(text.count) characters)" : text
    }
}
