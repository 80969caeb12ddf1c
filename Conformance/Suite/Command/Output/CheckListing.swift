#if Commands
internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// Describes checks without running them.
package enum CheckListing {
    /// Prints the details of one of the checks.
    package static func explain(_ id: String, among checks: [CheckSummary]) throws -> Int32 {
        guard let check = checks.first(where: { $0.id == id.uppercased() }) else {
            throw ValidationError(
                "there is no check \(id.debugDescription)." + suggestion(for: id, among: checks.map(\.id))
                    + " See --list.")
        }
        try Output.standard.write(text(of: check))
        return 0
    }

    /// Returns the checks by group.
    package static func text(of checks: [CheckSummary]) -> String {
        var lines: [String] = []
        for group in CheckGroup.allCases {
            let members = checks.filter { $0.group == group }
            if members.isEmpty { continue }
            lines += (lines.isEmpty ? [] : [""]) + ["\(group.title)"]
            for check in members {
                lines.append("  \(check.id)  \(check.promise)")
                let needs = check.needs.map(\.title).joined(separator: ", ")
                let kind = check.tier == .required && needs.isEmpty ? "" : check.tier.title
                if !kind.isEmpty { lines.append("           \(kind)\(needs.isEmpty ? "" : "; needs: \(needs)")") }
            }
        }
        lines += ["", "\(checks.count) checks"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(of check: CheckSummary) -> String {
        let profiles = Profile.allCases.filter { $0.groups.contains(check.group) }.map(\.title)
        var lines = ["\(check.id)  \(check.promise)", ""]
        if !check.explanation.isEmpty { lines += [check.explanation, ""] }
        lines.append("group     \(check.group.title)")
        lines.append("kind      \(check.tier.title)")
        if !check.needs.isEmpty { lines.append("needs     \(check.needs.map(\.title).joined(separator: ", "))") }
        if !profiles.isEmpty { lines.append("profiles  \(profiles.joined(separator: ", "))") }
        return lines.joined(separator: "\n") + "\n"
    }
}
#endif
