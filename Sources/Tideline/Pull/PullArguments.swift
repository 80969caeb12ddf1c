internal import TidelineStore

/// Validates the arguments of a pull before anything is sent.
enum PullArguments {
    static func check(_ query: TableQuery, queryID: String?, settings: PullSettings) throws {
        func refuse(_ message: String) -> SyncError { SyncError(.invalidArgument, message, table: query.table) }
        try RowInput.checkName(query.table)
        guard query.selection == nil else {
            throw refuse("a pull fetches whole rows; remove the selection from the query")
        }
        guard !query.includesTotalCount else {
            throw refuse("a pull cannot include the total count; remove it from the query")
        }
        guard query.skip >= 0, query.limit ?? 0 >= 0 else { throw refuse("skip and limit must not be negative") }
        guard settings.pageSize > 0 else { throw refuse("the page size must be 1 or more, not \(settings.pageSize)") }
        guard settings.pagesPerTransaction > 0 else {
            throw refuse("the pages per transaction must be 1 or more, not \(settings.pagesPerTransaction)")
        }
        guard settings.maxInFlight > 0 else {
            throw refuse("the setting maxInFlight of a pull must be 1 or more, not \(settings.maxInFlight)")
        }
        try settings.push.check()
        if let interval = settings.removesLeavers {
            guard interval >= .zero else { throw refuse("the interval removesLeavers must not be negative") }
            guard query.skip == 0, query.limit == nil else {
                throw refuse("all rows of a filter are compared; remove skip and limit from the query")
            }
        }
        guard settings.lookback >= .zero else { throw refuse("the lookback must not be negative") }
        for (name, _) in settings.parameters
        where name.isEmpty || name.utf8.first == UInt8(ascii: "$") || name.isReserved {
            throw refuse(
                "the setting parameters of a pull names \(name.debugDescription), which cannot be sent: names that are empty "
                    + "or begin with $ or __ are reserved")
        }
        if let queryID { try check(queryID, of: query) }
    }

    private static func check(_ queryID: String, of query: TableQuery) throws {
        func refuse(_ message: String) -> SyncError { SyncError(.invalidArgument, message, table: query.table) }
        guard queryID.contains(where: { !$0.isWhitespace }), queryID.unicodeScalars.count <= 255 else {
            throw refuse("a query id must have 1 to 255 characters and not be blank")
        }
        guard query.order.isEmpty, query.skip == 0, query.limit == nil else {
            throw refuse(
                "an incremental pull reads in the order of updatedAt; remove order, skip, and limit from the query")
        }
    }

    /// Throws if a filter or order uses a column that the table does not define, except for system columns.
    ///
    /// A server may respond to an unknown column with an empty list, which would look like a valid response.
    static func checkColumns(of query: TableQuery, schema: TableSchema) throws {
        for column in query.order.map(\.column) + (query.predicate?.columnNames ?? []) { try check(column, schema) }
    }

    private static func check(_ column: String, _ schema: TableSchema) throws {
        let isKnown = column == "id" || schema.column(column) != nil || SystemColumns.names.contains(column)
        let form = column.differingFormC
        guard !isKnown || column.isReserved || form != nil else { return }
        let reason =
            if column.isReserved {
                "names that begin with __ are reserved"
            } else if let form {
                "the name is not in Unicode's normalization form C; write it \(form.escapedASCII)"
            } else {
                "the table does not define it" + schema.suggestion(for: column)
            }
        throw SyncError(
            .invalidArgument, "the query cannot use the column \(column.debugDescription): \(reason)",
            table: schema.name, column: column)
    }
}
