internal import ArgumentParser
internal import TidelineCommandSupport
internal import TidelineConformance

/// The checks that `--profile` and `--filter` ask for.
struct CheckSelection {
    /// The checks, in their order.
    let checks: [Check]

    /// Finds them.
    /// - Throws: `ValidationError` for a pattern that finds none.
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
                "no check is found by \(pattern.debugDescription)." + suggestion(for: pattern, among: names)
                    + " See --list.")
        }
        let here = everywhere.filter { profile.groups.contains($0.group) }
        guard !here.isEmpty else {
            let titles = Set(everywhere.map(\.group.title)).sorted().joined(separator: ", ")
            throw ValidationError(
                "\(pattern.debugDescription) finds checks of \(titles) only, which are not in the profile "
                    + "\(profile.rawValue).")
        }
        return here
    }

    /// By id, by the beginning of ids, by group; only what is none of these is looked for in the promises.
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
