internal import TidelineBenchmark
internal import TidelineCommandSupport
internal import TidelineSupport

/// What is said of the workloads themselves, without running any.
enum WorkloadListing {
    /// Lists workloads on standard output, or as Markdown in a file.
    static func list(_ workloads: [Workload], markdown: String?) throws {
        guard let markdown else { return try Output.standard.write(text(of: workloads)) }
        try Output(path: markdown, option: "--markdown").write(markdownText(of: workloads))
    }

    private static func groups(_ workloads: [Workload]) -> [(title: String, members: [Workload])] {
        WorkloadGroup.allCases.map { group in (group.title, workloads.filter { $0.group == group }) }
            .filter { !$0.members.isEmpty }
    }

    private static func text(of workloads: [Workload]) -> String {
        let width = workloads.map(\.id.count).max() ?? 0
        let parts = groups(workloads).map { title, members in
            let lines = members.map { workload in
                let id = workload.id + String(repeating: " ", count: width - workload.id.count)
                return "  \(workload.isQuick ? "•" : " ") \(id)  \(workload.title)"
            }
            return ([title] + lines).joined(separator: "\n")
        }
        let count = counted(workloads.count, "workload")
        return (parts + ["\(count); --quick runs those with a dot"]).joined(separator: "\n\n") + "\n"
    }

    private static func markdownText(of workloads: [Workload]) -> String {
        groups(workloads).map { title, members in
            let rows = members.map { workload in
                "| `\(workload.id)` | \(Escape.markdown(workload.title)) | \(Escape.markdown(workload.explanation)) |"
            }
            return (["## \(title)", "", "| Id | Workload | What it tells |", "|---|---|---|"] + rows)
                .joined(separator: "\n")
        }.joined(separator: "\n\n") + "\n"
    }
}
