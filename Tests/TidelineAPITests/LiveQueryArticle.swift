import Tideline

// The examples of the article *Live queries*, compiled verbatim.

private func show(_ rows: LiveSnapshot<Row>) {}
private func showBadge(_ count: Int) {}

private func observe(_ items: SyncTable) async throws {
    let open = TableQuery("TodoItem").filter(.column("complete") == false).order(by: "due").limit(50)
    for try await update in items.observe(open) {
        show(update.rows)
    }
}

private func apply(_ items: SyncTable, _ open: TableQuery) async throws {
    var texts: [String] = []
    for try await update in items.observe(open).map({ $0["text"]?.string ?? "" }) {
        update.apply(to: &texts)
        print(update.changes.inserted.count, "new,", update.changes.removed.count, "gone")
    }
}

private func count(_ items: SyncTable) async throws {
    for try await count in items.observeCount(TableQuery("TodoItem").filter(.column("complete") == false)) {
        showBadge(count)
    }
}

@MainActor
private func showList(_ items: SyncTable, _ open: TableQuery) {
    let list = LiveRows(items.observe(open))
    print(list.rows.count, list.error as Any)
}
