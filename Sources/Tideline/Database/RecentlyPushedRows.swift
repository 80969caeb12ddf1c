internal import Synchronization
internal import TidelineStore

/// The rows whose operations ended during a pull of their table, by any client of the store object.
///
/// A page requested before the end of an operation shows the row in its earlier state. Storing that state would undo
/// the result of the push, so the row is skipped unless it is newer.
final class RecentlyPushedRows: Sendable {
    private struct State {
        var epoch: UInt64 = 0
        /// The tables with running pulls, by name.
        var tables: [String: Table] = [:]
    }

    private struct Table {
        /// The number of running pulls. Each client has at most one.
        var pulls = 0
        /// The end of each row's operation, by the row's key.
        var ends: [RowID: End] = [:]
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

    /// Starts recording for a pull of the table.
    func beginPull(of table: String) { state.withLock { $0.tables[table, default: Table()].pulls += 1 } }

    /// Ends recording for a pull. The last one removes the entries.
    func endPull(of table: String) {
        state.withLock { state in
            state.tables[table]?.pulls -= 1
            if state.tables[table]?.pulls == 0 { state.tables[table] = nil }
        }
    }

    /// Records that an operation of the row has ended and the row has the state of the server's response or of a
    /// resolution.
    func note(table: String, itemKey: String, base: RowStamp?) {
        state.withLock { state in
            state.epoch += 1
            state.tables[table]?.ends[.string(itemKey)] = End(epoch: state.epoch, base: base)
        }
    }

    /// Returns the rows whose operations ended after an epoch, by their keys.
    func ends(of table: String, after epoch: UInt64) -> [RowID: End] {
        state.withLock { state in
            (state.tables[table]?.ends ?? [:]).filter { $0.value.epoch > epoch }
        }
    }
}
