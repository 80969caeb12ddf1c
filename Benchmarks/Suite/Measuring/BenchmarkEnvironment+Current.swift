internal import Foundation
internal import TidelineSupport

extension BenchmarkEnvironment {
    /// This machine, this build, now.
    /// - Parameter directory: The folder where the databases are.
    public static func current(directory: String) -> BenchmarkEnvironment {
        BenchmarkEnvironment(
            host: ReportEnvironment.current, processor: processorName,
            memory: Int(clamping: ProcessInfo.processInfo.physicalMemory), fileSystem: FileSystem.name(of: directory),
            commit: SourceCommit.current)
    }

    private static var processorName: String {
        #if canImport(Darwin)
            return systemText("machdep.cpu.brand_string") ?? "unknown"
        #else
            // Not every architecture has a name there.
            let names = ["model name", "Model", "cpu model", "uarch"]
            let value = names.lazy.compactMap { SystemFile.value($0, in: "/proc/cpuinfo") }.first
            return value.map { $0.drop { " \t:".contains($0) } }.map(String.init) ?? "unknown"
        #endif
    }

    #if canImport(Darwin)
        private static func systemText(_ name: String) -> String? {
            var size = 0
            guard sysctlbyname(name, nil, &size, nil, 0) == 0 else { return nil }
            var text = [UInt8](repeating: 0, count: size)
            guard sysctlbyname(name, &text, &size, nil, 0) == 0 else { return nil }
            return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    #endif
}
