internal import TidelineStore

/// The check of what a pull is asked to do, before anything is sent.
enum PullArguments {
    static func check(_ query: Query, queryID: String?, settings: PullSettings) throws {
        func refuse(_ message: String) -> SyncError { SyncError(.invalidArgument, message, table: query.table) }
        guard query.selection == nil else { throw refuse("a pull brings whole rows: the query must not select") }
        guard !query.includesTotalCount else { throw refuse("a pull cannot include the total count") }
        guard query.skip >= 0, query.limit ?? 0 >= 0 else { throw refuse("skip and limit must not be negative") }
        guard settings.pageSize > 0 else { throw refuse("the page size must be 1 or more, not \(settings.pageSize)") }
        guard settings.lookback >= .zero else { throw refuse("the lookback must not be negative") }
        for (name, _) in settings.parameters where name.asciiLowercased == "__includedeleted" {
            throw refuse("a pull asks for deleted rows itself: leave out the parameter \(name)")
        }
        guard let queryID else { return }
        guard queryID.contains(where: { !$0.isWhitespace }), queryID.unicodeScalars.count <= 255 else {
            throw refuse("a query id must have 1 to 255 characters and not be blank")
        }
        guard query.order.isEmpty, query.skip == 0, query.limit == nil else {
            throw refuse("an incremental pull goes by updatedAt: the query must not have an order, skip or limit")
        }
    }
}
