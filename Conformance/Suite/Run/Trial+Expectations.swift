internal import TidelineStore

extension Trial {
    /// Fails unless something holds.
    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        guard condition else { throw CheckFailure(message()) }
    }

    /// Fails unless a value is the one expected; of rows and values use the other forms, which compare every bit.
    func expect<T: Equatable>(_ found: T, is expected: T, _ what: @autoclosure () -> String) throws {
        guard found == expected else {
            throw CheckFailure("\(what()): found \(Self.text(found)), expected \(Self.text(expected))")
        }
    }

    /// Fails unless a value is the one expected to the bit.
    func expect(_ found: Value?, is expected: Value?, _ what: @autoclosure () -> String) throws {
        guard Self.isIdentical(found, expected) else {
            throw CheckFailure("\(what()): found \(Self.text(found)), expected \(Self.text(expected))")
        }
    }

    /// Fails unless rows are those expected, in their order, every value to the bit. A column that one names and the
    /// other does not is a difference; see ``TableSchema/completing(_:)``.
    func expect(_ found: [Row], are expected: [Row], _ what: @autoclosure () -> String) throws {
        if let difference = RowDifference(found: found, expected: expected) {
            throw CheckFailure("\(what()): \(difference)")
        }
    }

    /// Fails unless a row is the one expected, every value to the bit.
    func expect(_ found: Row?, is expected: Row?, _ what: @autoclosure () -> String) throws {
        try expect(found.map { [$0] } ?? [], are: expected.map { [$0] } ?? [], what())
    }

    /// Fails unless a query finds the rows of these ids, in this order.
    func expect(_ query: Query, in store: TracedStore, finds ids: [RowID], _ what: @autoclosure () -> String = "")
        throws
    {
        let found = try store.read { try $0.rows(matching: query) }.rows.compactMap(\.key)
        guard found == ids else {
            let about = what().isEmpty ? "" : "\(what()): "
            throw CheckFailure("\(about)\(query.swiftSource) finds \(Self.text(found)), expected \(Self.text(ids))")
        }
    }

    /// Fails unless a query's rows, their order, total count and count are what the evaluator says of these rows.
    ///
    /// - Parameter rows: All rows of the table, each with all columns.
    func expect(_ query: Query, in store: TracedStore, over rows: [Row], of schema: TableSchema) throws {
        let expected = try Answer.expected(query, schema, try schema.packed(rows))
        let found = try store.read { try Answer.of($0, query) }
        if let difference = found.difference(from: expected) {
            throw CheckFailure("\(query.swiftSource): \(difference)")
        }
    }

    /// Fails unless a call throws a ``StoreError`` of that code which names what it should.
    @discardableResult
    func expectError(
        _ code: StoreError.Code, _ what: @autoclosure () -> String, table: String? = nil, column: String? = nil,
        id: String? = nil, _ body: () throws -> Void
    ) throws -> StoreError {
        do {
            try body()
        } catch let error as StoreError {
            return try Self.confirm(error, has: code, what(), table: table, column: column, id: id)
        } catch let error as CheckFailure {
            throw error
        } catch let timeOut as TimeOut {
            throw timeOut
        } catch let error as KitError {
            throw error
        } catch let undecided as NotDecidable {
            throw undecided
        } catch {
            throw CheckFailure("\(what()): expected StoreError \(code), thrown was \(type(of: error)): \(error)")
        }
        throw CheckFailure("\(what()): expected StoreError \(code), nothing was thrown")
    }

    private static func confirm(
        _ error: StoreError, has code: StoreError.Code, _ what: String, table: String?, column: String?, id: String?
    ) throws -> StoreError {
        guard error.code == code else {
            throw CheckFailure("\(what): expected StoreError \(code), thrown was \(error)")
        }
        guard !error.message.isEmpty else {
            throw CheckFailure("\(what): the error has no message; it tells a person what happened and what to do")
        }
        let names = [("table", table, error.table), ("column", column, error.column), ("id", id, error.id)]
        for (name, expected, found) in names where expected != nil && expected != found {
            let found = found.map(\.debugDescription) ?? "no \(name)"
            throw CheckFailure(
                "\(what): the error should name the \(name) \(text(expected)), it names \(found): \(error)")
        }
        return error
    }

    private static func isIdentical(_ found: Value?, _ expected: Value?) -> Bool {
        switch (found, expected) {
        case (.double(let a)?, .double(let b)?): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
        default: found == expected
        }
    }

    /// A value as a message has it: without `Optional`, and cut where it is long.
    static func text<T>(_ value: T) -> String {
        let text = (value as? any SwiftSource)?.swiftSource ?? String(reflecting: value)
        return text.count > 600 ? "\(text.prefix(600))… (\(text.count) characters)" : text
    }
}
