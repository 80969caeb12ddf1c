internal import Foundation

/// Where and when a suite ran.
public struct ReportEnvironment: Sendable, Hashable, Codable {
    /// When, in UTC, as ISO 8601 has it.
    public var date: String
    /// The operating system.
    public var system: String
    /// Its kernel, and the machine's architecture.
    public var kernel: String
    /// How many processors there are.
    public var processors: Int
    /// The compiler that the suite was built with.
    public var swift: String
    /// How it was built: `debug` or `release`.
    public var build: String

    /// An environment.
    public init(date: String, system: String, kernel: String, processors: Int, swift: String, build: String) {
        self.date = date
        self.system = system
        self.kernel = kernel
        self.processors = processors
        self.swift = swift
        self.build = build
    }

    /// This machine, this build, now.
    public static var current: ReportEnvironment {
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

    /// The text of a C array of characters, which Swift sees as a tuple.
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

    /// Assertions are compiled into debug builds only.
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
