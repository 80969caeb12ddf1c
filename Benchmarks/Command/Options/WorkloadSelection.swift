internal import ArgumentParser
internal import TidelineBenchmark
internal import TidelineCommandSupport

/// The workloads that `--quick` and `--filter` ask for.
struct WorkloadSelection: Sendable {
    /// Their ids; nil for all.
    private let ids: Set<String>?

    /// Finds them among all there are.
    /// - Throws: `ValidationError` for a pattern that finds none.
    init(patterns: [String], isQuick: Bool, among workloads: [Workload]) throws {
        guard !patterns.isEmpty else {
            ids = isQuick ? Set(workloads.filter(\.isQuick).map(\.id)) : nil
            return
        }
        // What is asked for by name is measured, whether or not it belongs to the first impression.
        ids = Set(try patterns.flatMap { try Self.found($0, in: workloads) }.map(\.id))
    }

    /// Those of them that are asked for, in their order.
    func chosen(_ workloads: [Workload]) -> [Workload] { workloads.filter { ids?.contains($0.id) ?? true } }

    private static func found(_ pattern: String, in workloads: [Workload]) throws -> [Workload] {
        let text = pattern.lowercased()
        let found = workloads.filter { workload in
            matches(workload.id[...], text[...]) || text == workload.group.rawValue
        }
        guard !found.isEmpty else {
            let names = workloads.map(\.id) + WorkloadGroup.allCases.map(\.rawValue)
            throw ValidationError(
                "no workload is called \(pattern.debugDescription)." + suggestion(for: text, among: names)
                    + " --list shows all; a star stands for any letters, as in get-*.")
        }
        return found
    }

    /// Whether a text is as a pattern says, in which a star stands for any letters.
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
