import Testing
import Tideline
import TidelineSimulation

// The policy and the test of the article "Testing your app's sync", compiled verbatim.

// article: policy
struct LastWriterWins: SyncContextDelegate {
    func pushCompleted(_ result: PushResult) async {
        for error in result.operationErrors where error.code == .conflict {
            guard let item = error.item, let server = error.serverItem, !error.isRowGone else {
                try? await error.cancelOperationAndDiscardItem()
                continue
            }
            let isNewer = item["editedAt"]?.timestamp ?? .min > server["editedAt"]?.timestamp ?? .min
            if isNewer {
                try? await error.keepOperationAndUpdateItem(item)
            } else {
                try? await error.cancelOperationAndUpdateItem(server)
            }
        }
    }
}
// end

// article: test
func everyEditIsKept(seed: UInt64) async throws {
    let columns: [ColumnSchema] = [.string("title"), .int("rank"), .timestamp("editedAt")]
    try await Simulation(seed: seed) { world in
        world.schema = [TableSchema("Todo", columns: columns)]
        world.policy = LastWriterWins()
        world.invariant("every edit is kept") { $0.lostEdits }
    }.run()
}
// end
