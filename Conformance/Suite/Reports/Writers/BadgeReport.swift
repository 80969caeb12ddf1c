internal import Foundation

/// A badge for shields.io: the highest profile that every store has reached, a server's success, or the failures.
package struct BadgeReport: Sendable {
    package init() {}

    package func text(of report: ConformanceReport) throws -> String {
        let (message, color) = BadgeReport.message(report)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let badge = Badge(schemaVersion: 1, label: "tideline conformance", message: message, color: color)
        return String(decoding: try encoder.encode(badge), as: UTF8.self) + "\n"
    }

    private struct Badge: Encodable {
        var schemaVersion: Int
        var label: String
        var message: String
        var color: String
    }

    private static func message(_ report: ConformanceReport) -> (message: String, color: String) {
        let reached = Profile.allCases.last { profile in
            !report.stores.isEmpty
                && report.stores.allSatisfy { store in
                    store.profiles.contains { $0.profile == profile && $0.outcome == .reached }
                }
        }
        let failures = report.stores.reduce(0) { $0 + $1.totals.failed + $1.totals.knownFailure }
        if let first = report.stores.first, first.profiles.isEmpty, failures == 0, report.isComplete {
            let tolerated = report.stores.reduce(0) { $0 + $1.totals.tolerated }
            return ("passed\(tolerated > 0 ? ", \(tolerated) tolerated" : "")", "brightgreen")
        }
        let parts = [reached?.title, failures > 0 ? "\(failures) failed" : nil].compactMap { $0 }
        let message = parts.isEmpty ? "not all run" : parts.joined(separator: ", ")
        return (message, color(reached, failures: failures))
    }

    private static func color(_ reached: Profile?, failures: Int) -> String {
        switch reached {
        case .full where failures == 0, .long where failures == 0: "brightgreen"
        case .durable: "green"
        case .standard: "yellowgreen"
        case .full, .long, .syncCore: "yellow"
        case nil: failures > 0 ? "red" : "lightgrey"
        }
    }
}
