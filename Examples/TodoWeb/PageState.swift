#if Tool
internal import Synchronization
internal import Tideline

/// Everything that the page shows.
struct PageState: Encodable, Equatable, Sendable {
    var client: String
    var isOnline = true
    var status = Status("starting", .waiting)
    var items: [Item] = []
    var queue: [Change] = []
    var conflicts: [Conflict] = []
    var merges: [Merge] = []

    struct Status: Encodable, Equatable {
        enum Look: String, Encodable { case good, waiting, bad }

        var text: String
        var look: Look

        init(_ text: String, _ look: Look) { (self.text, self.look) = (text, look) }
    }

    struct Item: Encodable, Equatable {
        var id: String
        var text: String
        var complete: Bool

        init(_ item: TodoItem) { (id, text, complete) = (item.id.text, item.text, item.complete) }

        /// Creates an item from one side of a conflict, which may lack columns.
        init(_ row: Row) {
            id = row.idText
            text = row["text"]?.string ?? ""
            complete = row["complete"]?.bool ?? false
        }
    }

    /// A change in the queue.
    struct Change: Encodable, Equatable {
        var id: Int64
        var kind: String
        var item: String
        var text: String?
        var attempts: Int64

        init(_ operation: TableOperation) {
            id = operation.id
            kind = "\(operation.kind)"
            item = operation.itemID
            text = operation.item?["text"]?.string
            attempts = operation.attempts
        }
    }

    /// A change that the user has to decide about.
    struct Conflict: Encodable, Equatable {
        var id: String
        var message: String
        var mine: Item?
        var theirs: Item?

        init(_ error: TableOperationError) {
            id = error.itemID
            message = error.message
            mine = error.kind == .delete ? nil : error.item.map { Item($0) }
            theirs = error.serverItem.flatMap { $0["deleted"]?.bool == true ? nil : Item($0) }
        }
    }

    /// A conflict that was resolved without the user.
    struct Merge: Encodable, Equatable {
        var id: Int64
        var mine: Item?
        var theirs: Item?
        var result: Item?

        init(_ decision: ConflictDecision) {
            id = decision.id
            mine = decision.local.map { Item($0) }
            theirs = decision.server.map { Item($0) }
            result = decision.result.map { Item($0) }
        }
    }
}

/// Holds the page's state, and passes each new one to all open pages. A slow page skips all but the newest.
final class PageBoard: Sendable {
    private let pages: Mutex<(state: PageState, next: Int, open: [Int: AsyncStream<PageState>.Continuation])>

    init(_ state: PageState) { pages = Mutex((state, 0, [:])) }

    func update(_ change: (inout sending PageState) -> Void) {
        pages.withLock { pages in
            let before = pages.state
            change(&pages.state)
            guard pages.state != before else { return }
            for page in pages.open.values { page.yield(pages.state) }
        }
    }

    func states() -> AsyncStream<PageState> {
        let (states, page) = AsyncStream.makeStream(of: PageState.self, bufferingPolicy: .bufferingNewest(1))
        let number = pages.withLock { pages in
            pages.next += 1
            pages.open[pages.next] = page
            page.yield(pages.state)
            return pages.next
        }
        page.onTermination = { [weak self] _ in
            _ = self?.pages.withLock { $0.open.removeValue(forKey: number) }
        }
        return states
    }
}
#endif
