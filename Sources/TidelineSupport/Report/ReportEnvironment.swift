internal import Foundation

/// The environment in which a suite ran.
package struct ReportEnvironment: Sendable, Hashable, Codable {
    /// The date and time in UTC, in ISO 8601 format.
    package var date: String
    /// The operating system.
    package var system: String
    /// The kernel and the architecture of the machine.
    package var kernel: String
    /// The number of processors.
    package var processors: Int
    /// The version of the compiler that built the suite.
    package var swift: String
    /// The build configuration: `debug` or `release`.
    package var build: String

    package init(date: String, system: String, kernel: String, processors: Int, swift: String, build: String) {
        self.date = date
        self.system = system
        self.kernel = kernel
        self.processors = processors
        self.swift = swift
        self.build = build
    }

    /// The current machine, build, and time.
    package static var current: ReportEnvironment {
        let process = ProcessInfo.processInfo
        return ReportEnvironment(
            date: Date().formatted(.iso8601), system: process.operatingSystemVersionString, kernel: kernel,
            processors: process.activeProcessorCount, swift: compiler, build: isDebug ? "debug" : "release")
    }

    private static var kernel: String {
        var names = utsname()
        guard uname(&names) == 0 else { return "unknown" }
        return "\(text(names.sysname)) \(text(names.release)) \(text(names.machine))"
    }

    /// Returns the text of a C character array, which Swift imports as a tuple.
    private static func text<T>(_ characters: T) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static var compiler: String {
        #if compiler(>=6.4)
        "6.4 or later"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }

    /// Whether this is a debug build, the only kind with assertions.
    private static var isDebug: Bool {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug
    }
}
