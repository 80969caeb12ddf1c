#if Commands
internal import ArgumentParser
internal import TidelineSupport

/// The checks selected by `--profile` and `--filter`.
struct CheckSelection {
    /// The selected checks, in order.
    let checks: [Check]

    /// Finds the checks, or throws a `ValidationError` for a pattern that matches none.
    init(profile: Profile, patterns: [String]) throws {
        let all = Check.all.map(\.summary)
        let found = try patterns.map { pattern in (pattern, try all.matching(pattern)) }
        for (pattern, everywhere) in found where !everywhere.contains(where: { profile.groups.contains($0.group) }) {
            let titles = Set(everywhere.map(\.group.title)).sorted().joined(separator: ", ")
            throw ValidationError(
                "\(pattern.debugDescription) matches only checks of \(titles), which are not in the profile "
                    + "\(profile.rawValue).")
        }
        let ids = Set(found.flatMap(\.1).map(\.id))
        checks = patterns.isEmpty ? profile.checks : profile.checks.filter { ids.contains($0.id) }
    }
}

extension [CheckSummary] {
    /// Returns the matching checks, in order, or all without a pattern; throws for a pattern without a match.
    package func selected(by patterns: [String]) throws -> [CheckSummary] {
        guard !patterns.isEmpty else { return self }
        let ids = Set(try patterns.flatMap(matching).map(\.id))
        return filter { ids.contains($0.id) }
    }

    /// Searches by identifier, by identifier prefix, and by group; searches the promises only if none of these match.
    fileprivate func matching(_ pattern: String) throws -> [CheckSummary] {
        let text = pattern.lowercased()
        let searches: [(CheckSummary) -> Bool] = [
            { $0.id.lowercased().hasPrefix(text) },
            { text == "\($0.group)".lowercased() || text == $0.group.title.lowercased() },
            { $0.promise.lowercased().contains(text) },
        ]
        for isFound in searches where !text.isEmpty {
            let found = filter(isFound)
            if !found.isEmpty { return found }
        }
        let groups = Set(map(\.group))
        let names = map(\.id) + groups.flatMap { [$0.rawValue, "\($0)"] }
        throw ValidationError(
            "no check matches \(pattern.debugDescription)." + suggestion(for: pattern, among: names) + " See --list.")
    }
}
#endif
