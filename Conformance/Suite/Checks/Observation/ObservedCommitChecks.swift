internal import TidelineLive
internal import TidelineStore

extension Check {
    /// The order of commits.
    static let observedCommits: [Check] = [
        Check(
            "OBS-010", "A second writer waits until the first has committed, so that live queries see both in order",
            why: "Each commit's changes are relative to the commit before it.", tier: .stress
        ) { context in
            let store = try context.observedStore(.notes)
            var all = try ObservedQuery(TableQuery("Note"), in: store)
            let (starts, arrivals) = ([Signal(), Signal()], [Signal(), Signal()])
            try context.onThreads(2, "two writers at once") { thread in
                starts[thread].send()
                try starts[1 - thread].wait(context, "two threads do not start")
                try store.write { writer in
                    arrivals[thread].send()
                    // In a correct store, the other writer is not in its body.
                    _ = arrivals[1 - thread].comesTooEarly(after: starts[1 - thread], context)
                    try writer.upsert(["id": .string("\(thread)")], into: "Note")
                }
            }
            try all.expectCurrent(in: store, context, "after two writers at once, of which the second waits")
            try context.expect(all.commit, is: 2, "the number of commits")
        },
        Check(
            "OBS-011", "While writers on several threads commit, each live query receives the commits in order",
            tier: .stress
        ) { context in
            let store = try context.observedStore(.items, .notes)
            var queries = try [
                TableQuery("Note"), TableQuery("Note").order(by: "number").limit(5), TableQuery("TodoItem"),
            ]
            .map { try ObservedQuery($0, in: store) }
            let steps = 25 * context.rounds
            try context.onThreads(4, "four writers") { thread in
                for step in 0..<steps {
                    try store.write { writer in
                        let id = RowID.string("\((step * 7 + thread) % 20)")
                        try writer.upsert(Row(id: id, distinctColumns: [("number", .int(Int64(step)))]), into: "Note")
                        try writer.upsert(Row(id: id), into: "TodoItem")
                        try writer.delete(ids: [.string("\(step % 20)")], from: thread % 2 == 0 ? "Note" : "TodoItem")
                    }
                }
            }
            for index in queries.indices {
                try queries[index].expectCurrent(in: store, context, "after the own commits of four writers")
            }
        },
    ]
}
