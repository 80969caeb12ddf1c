internal import Synchronization
internal import TidelineStore

/// The rows whose operations ended while a pull of their table was under way.
///
/// A page that was asked for before shows such a row as it was: laid over the row, it would bring back what the push
/// has just replaced, so it is passed over unless it is newer than that.
final class SettledRows: Sendable {
    private struct State {
        var moment: UInt64 = 0
        /// When each row's operation ended, by the row's key; only for tables that are being pulled.
        var tables: [String: [RowID: End]] = [:]
    }

    /// The end of a row's operation.
    struct End: Sendable {
        var moment: UInt64
        /// The server's row that the operation was based on; nil when there was none.
        var base: RowStamp?
    }

    private let state = Mutex(State())

    /// The present, to be compared with the end of operations.
    var now: UInt64 { state.withLock { $0.moment } }

    /// A pull of the table begins; one at a time.
    func beginPull(of table: String) { state.withLock { $0.tables[table] = [:] } }

    /// The pull has ended, and what was noted for it can go.
    func endPull(of table: String) { state.withLock { $0.tables[table] = nil } }

    /// An operation of the row has ended, and the row is as the server's answer or a resolution left it.
    func note(table: String, itemKey: String, base: RowStamp?) {
        state.withLock { state in
            state.moment += 1
            state.tables[table]?[.string(itemKey)] = End(moment: state.moment, base: base)
        }
    }

    /// The rows whose operations ended after a moment, by their keys.
    func ends(of table: String, after moment: UInt64) -> [RowID: End] {
        state.withLock { state in
            (state.tables[table] ?? [:]).filter { $0.value.moment > moment }
        }
    }
}
