internal import ArgumentParser
internal import TidelineCommandSupport
internal import TidelineConformance

/// The checks selected by `--profile` and `--filter`.
struct CheckSelection {
    /// The selected checks, in order.
    let checks: [Check]

    /// Finds the checks.
    /// - Throws: `ValidationError` for a pattern that matches no check.
    init(profile: Profile, patterns: [String]) throws {
        guard !patterns.isEmpty else {
            checks = profile.checks
            return
        }
        let ids = Set(try patterns.flatMap { try CheckSelection.found($0, in: profile) }.map(\.id))
        checks = profile.checks.filter { ids.contains($0.id) }
    }

    private static func found(_ pattern: String, in profile: Profile) throws -> [Check] {
        let everywhere = matching(pattern)
        guard !everywhere.isEmpty else {
            let names = Check.all.map(\.id) + CheckGroup.allCases.flatMap { [$0.rawValue, "\($0)"] }
            throw ValidationError(
                "no check matches \(pattern.debugDescription)." + suggestion(for: pattern, among: names)
                    + " See --list.")
        }
        let here = everywhere.filter { profile.groups.contains($0.group) }
        guard !here.isEmpty else {
            let titles = Set(everywhere.map(\.group.title)).sorted().joined(separator: ", ")
            throw ValidationError(
                "\(pattern.debugDescription) matches only checks of \(titles), which are not in the profile "
                    + "\(profile.rawValue).")
        }
        return here
    }

    /// Searches by identifier, by identifier prefix, and by group; searches the promises only if none of these match.
    private static func matching(_ pattern: String) -> [Check] {
        let text = pattern.lowercased()
        if text.isEmpty { return [] }
        let byID = Check.all.filter { $0.id.lowercased().hasPrefix(text) }
        if !byID.isEmpty { return byID }
        let byGroup = Check.all.filter { text == "\($0.group)".lowercased() || text == $0.group.title.lowercased() }
        if !byGroup.isEmpty { return byGroup }
        return Check.all.filter { $0.promise.lowercased().contains(text) }
    }
}
