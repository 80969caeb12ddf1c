#if Serve
internal import Tideline
internal import TidelineStore
internal import TidelineSupport

/// A sync of the list that runs until Ctrl-C, and shows its status.
struct SyncWatch {
    let interval: Duration
    let pageSize: Int
    /// The store of `--store`.
    let store: StoreLocation?

    /// Syncs until the interruption, and then cancels what is in flight.
    ///
    /// - Returns: The last status before the end other than a push or pull in progress, which the end interrupts.
    func run(_ session: TodoSession<some LocalStore>) async throws -> SyncStatus {
        let client = session.client
        // The first pull of a large list shows how many items there are.
        let settings = SyncSettings(pull: PullSettings(pageSize: pageSize, countsRows: true))
        let (interruptions, interrupted) = AsyncStream.makeStream(of: Void.self)
        // Before the sync begins, so that Ctrl-C can end it.
        let interruption = Interruption { interrupted.finish() }
        defer { interruption.end() }
        try await client.start(
            [SyncSubscription(TodoItem.schema.name, queryID: "todo", interval: interval)], settings: settings)
        async let last = show(client.statusUpdates)
        for await _ in interruptions {}
        await client.stop()
        return await last
    }

    /// Shows each status until the sync has ended, and returns the last one before that is not a push or pull in
    /// progress.
    func show(_ updates: AsyncStream<SyncStatus>) async -> SyncStatus {
        let terminal = Terminal(usesStandardError: false)
        var line = StatusLine(
            style: terminal.style, isInteractive: terminal.isInteractive, columns: terminal.columns, store: store,
            write: { terminal.write($0) })
        var last = SyncStatus.stopped
        for await status in updates {
            if status == .stopped { break }
            line.show(status)
            switch status {
            case .pushing, .pulling: continue
            default: last = status
            }
        }
        line.end()
        return last
    }
}

/// Shows a status on one line, which an interactive terminal overwrites. Elsewhere each change is a line of its own,
/// without times, so that a sync without news prints nothing.
struct StatusLine {
    let style: TerminalStyle
    let isInteractive: Bool
    /// The number of characters in a line of an interactive terminal.
    let columns: Int
    /// The store of `--store`.
    let store: StoreLocation?
    let write: (String) -> Void
    private(set) var shown: String?

    mutating func show(_ status: SyncStatus) {
        guard let (text, look) = Self.text(of: status, store: store, isBrief: !isInteractive), text != shown else {
            return
        }
        shown = text
        if isInteractive {
            write("\r\u{1B}[K\(style.styled(String(text.prefix(max(columns - 1, 1))), look))")
        } else {
            write(text + "\n")
        }
    }

    /// Ends the line of an interactive terminal.
    func end() {
        if isInteractive, shown != nil { write("\n") }
    }

    /// Returns the text of a status, or `nil` for one that shows nothing new.
    ///
    /// - Parameters:
    ///   - store: The store of `--store`.
    ///   - isBrief: Whether to omit times and progress.
    static func text(
        of status: SyncStatus, store: StoreLocation?, isBrief: Bool
    ) -> (text: String, look: RichText.Look)? {
        switch status {
        case .stopped: return nil
        case .idle(let since): return (isBrief ? "in sync" : "in sync at \(localTime(since))", .good)
        case .pushing(let done, let total):
            guard total > 0 else { return nil }
            return (
                isBrief ? "sending \(counted(total, "change"))" : "sent \(done) of \(counted(total, "change"))", .plain
            )
        case .pulling(_, let rows, let total):
            // The pull of a list without changes shows nothing.
            guard rows > 1, !isBrief else { return nil }
            return ("fetched \(rows)\(total.map { " of about \($0)" } ?? "") items", .plain)
        case .offline(let message, let nextTry):
            return (stopped("offline", nextTry, message, isBrief), .open)
        case .needsSignIn: return ("the server requires a sign-in", .bad)
        case .needsAttention(let count):
            let command = TodoOptions.command("status", store: store).map(shellWord).joined(separator: " ")
            return ("\(counted(count, "change")) not synced; see \(command)", .bad)
        case .failing(_, let message, let nextTry):
            return (stopped("failing", nextTry, message, isBrief), .bad)
        }
    }

    /// Returns the text of a status with a reason, whose first line is shown.
    private static func stopped(_ word: String, _ nextTry: Timestamp, _ message: String, _ isBrief: Bool) -> String {
        "\(word)\(isBrief ? "" : ", next try at \(localTime(nextTry))"): \(printable(String(message.prefix { $0 != "\n" })))"
    }
}
#endif
