#if Commands
internal import ArgumentParser
internal import TidelineSupport

/// The workloads that `--quick` and `--filter` select.
struct WorkloadSelection: Sendable {
    /// The identifiers; `nil` for all workloads.
    private let ids: Set<String>?

    /// Selects workloads.
    /// - Throws: `ValidationError` for a pattern without matches.
    init(patterns: [String], isQuick: Bool, among workloads: [Workload]) throws {
        guard !patterns.isEmpty else {
            ids = isQuick ? Set(workloads.filter(\.isQuick).map(\.id)) : nil
            return
        }
        // Patterns also select workloads that are not quick.
        ids = Set(try patterns.flatMap { try Self.found($0, in: workloads) }.map(\.id))
    }

    /// Returns the selected workloads in order.
    func chosen(_ workloads: [Workload]) -> [Workload] { workloads.filter { ids?.contains($0.id) ?? true } }

    private static func found(_ pattern: String, in workloads: [Workload]) throws -> [Workload] {
        let text = pattern.lowercased()
        let found = workloads.filter { workload in
            matches(workload.id[...], text[...]) || text == workload.group.rawValue
        }
        guard !found.isEmpty else {
            let names = workloads.map(\.id) + WorkloadGroup.allCases.map(\.rawValue)
            throw ValidationError(
                "there is no workload \(pattern.debugDescription)." + suggestion(for: text, among: names)
                    + " --list shows all; * matches any letters, as in get-*.")
        }
        return found
    }

    /// Whether a text matches a pattern, in which a star stands for any characters.
    private static func matches(_ text: Substring, _ pattern: Substring) -> Bool {
        guard let star = pattern.firstIndex(of: "*") else { return text == pattern }
        guard text.hasPrefix(pattern[..<star]) else { return false }
        let rest = pattern[pattern.index(after: star)...]
        var text = text[text.index(text.startIndex, offsetBy: pattern.distance(from: pattern.startIndex, to: star))...]
        while true {
            if matches(text, rest) { return true }
            guard text.popFirst() != nil else { return false }
        }
    }
}

/// Lists workloads without running them.
struct WorkloadListing {
    let workloads: [Workload]

    /// The workloads by group.
    var text: String {
        let parts = groups.map { title, members in
            let rows = members.map { ["  \($0.isQuick ? "•" : " ") \($0.id)", $0.title] }
            return ([title] + TextTable(rows: rows).lines).joined(separator: "\n")
        }
        let count = counted(workloads.count, "workload")
        return (parts + ["\(count); --quick runs those with a dot"]).joined(separator: "\n\n") + "\n"
    }

    /// The workloads as Markdown, with their descriptions.
    var markdown: String {
        groups.map { title, members in
            let rows = members.map {
                Table.Row([RichText($0.id, .code), RichText($0.title), RichText($0.explanation)])
            }
            return Block.section(title, [.table(Table(title, heading: ["Id", "Workload", "Description"], rows: rows))])
        }.markdown(level: 2)
    }

    private var groups: [(title: String, members: [Workload])] {
        WorkloadGroup.allCases.map { group in (group.title, workloads.filter { $0.group == group }) }
            .filter { !$0.members.isEmpty }
    }
}
#endif
