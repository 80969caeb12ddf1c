internal import Synchronization
internal import TidelineStore

/// The rows whose operations ended during a pull of their table.
///
/// A page requested before the end of an operation shows the row in its earlier state. Storing that state would undo
/// the result of the push, so the row is skipped unless it is newer.
final class RecentlyPushedRows: Sendable {
    private struct State {
        var epoch: UInt64 = 0
        /// The end of each row's operation, by the table's name and the row's key. Only tables with a running pull have
        /// entries.
        var tables: [String: [RowID: End]] = [:]
    }

    /// The end of a row's operation.
    struct End: Sendable {
        var epoch: UInt64
        /// The stamp of the base row, or `nil` if there was none.
        var base: RowStamp?
    }

    private let state = Mutex(State())

    /// The current epoch, which is compared with the end of operations.
    var now: UInt64 { state.withLock { $0.epoch } }

    /// Starts recording for a pull of the table. Only one pull of a table runs at a time.
    func beginPull(of table: String) { state.withLock { $0.tables[table] = [:] } }

    /// Ends recording for a pull and removes its entries.
    func endPull(of table: String) { state.withLock { $0.tables[table] = nil } }

    /// Records that an operation of the row has ended and the row has the state of the server's response or of a
    /// resolution.
    func note(table: String, itemKey: String, base: RowStamp?) {
        state.withLock { state in
            state.epoch += 1
            state.tables[table]?[.string(itemKey)] = End(epoch: state.epoch, base: base)
        }
    }

    /// Returns the rows whose operations ended after an epoch, by their keys.
    func ends(of table: String, after epoch: UInt64) -> [RowID: End] {
        state.withLock { state in
            (state.tables[table] ?? [:]).filter { $0.value.epoch > epoch }
        }
    }
}
