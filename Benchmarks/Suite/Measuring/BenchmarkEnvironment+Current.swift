#if Commands
internal import Foundation
internal import TidelineSupport

extension BenchmarkEnvironment {
    /// Describes this machine and build.
    /// - Parameter directory: The directory of the databases.
    package static func current(directory: String) -> BenchmarkEnvironment {
        BenchmarkEnvironment(
            host: ReportEnvironment.current, processor: processorName,
            memory: Int(clamping: ProcessInfo.processInfo.physicalMemory), fileSystem: FileSystem.name(of: directory),
            commit: SourceCommit.current)
    }

    private static var processorName: String {
        #if canImport(Darwin)
        return systemText("machdep.cpu.brand_string") ?? "unknown"
        #else
        // The field depends on the architecture.
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

/// The processor time that other programs use, measured from one point in time.
struct BackgroundLoad {
    private let start = ContinuousClock.now
    private let busy: Double
    private let own = ProcessCounters.now.cpuSeconds

    /// Starts measuring, or returns `nil` if the system does not report the load.
    init?() {
        guard let busy = Self.busySeconds else { return nil }
        self.busy = busy
    }

    /// The average number of processors in use by others; `nil` in the first second, which is too short to measure.
    var processors: Double? {
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        guard elapsed >= 1, let now = Self.busySeconds else { return nil }
        return max(now - busy - (ProcessCounters.now.cpuSeconds - own), 0) / elapsed
    }

    /// The total busy time of all processors.
    private static var busySeconds: Double? {
        SystemFile.value("cpu ", in: "/proc/stat").flatMap {
            busySeconds(of: $0, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
        }
    }

    /// Parses the `cpu` line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
    static func busySeconds(of line: Substring, ticksPerSecond: Double) -> Double? {
        let ticks = line.split(separator: " ").prefix(8).compactMap { Double($0) }
        guard ticks.count == 8, ticksPerSecond > 0 else { return nil }
        return (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]) / ticksPerSecond
    }
}

/// The commit that this executable was built from.
///
/// It is not compiled in, because incremental builds would keep an old value. It is `TIDELINE_COMMIT` if set.
/// Otherwise, for an executable inside its repository, it is the checked-out commit, unless a source file is newer than
/// the executable.
enum SourceCommit {
    /// The commit, or `nil` if it is unknown.
    static var current: String? {
        if let named = ProcessInfo.processInfo.environment["TIDELINE_COMMIT"], !named.isEmpty { return named }
        guard let executable = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
        return commit(builtInto: executable)
    }

    static func commit(builtInto executable: URL) -> String? {
        guard let root = repository(around: executable), let date = modified(executable),
            let commit = git(["rev-parse", "--short=12", "HEAD"], in: root), !commit.isEmpty,
            let files = git(["ls-files", "-z", "--", "*.swift", "*.c", "*.cpp", "*.h"], in: root)
        else { return nil }
        let sources = files.split(separator: "\0").filter { !$0.hasPrefix("Tests/") && !$0.hasPrefix("docs/") }
        let isNewer = sources.contains { modified(root.appendingPathComponent(String($0))).map { $0 > date } ?? true }
        guard !isNewer, let changes = git(["status", "--porcelain", "--untracked-files=no"], in: root) else {
            return nil
        }
        return commit + (changes.isEmpty ? "" : "+")
    }

    private static func repository(around executable: URL) -> URL? {
        var folder = executable.deletingLastPathComponent()
        while folder.path != "/", folder.path != "" {
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent(".git").path) { return folder }
            folder = folder.deletingLastPathComponent()
        }
        return nil
    }

    private static func modified(_ file: URL) -> Date? {
        try? FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
    }

    /// The output of a git command, or `nil` if it fails.
    private static func git(_ arguments: [String], in folder: URL) -> String? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-C", folder.path] + arguments
        let output = Pipe.uninherited()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

/// Access to Linux's `/proc` files; other systems have none.
enum SystemFile {
    /// The content of a file, or `nil` if it does not exist.
    static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The rest of the first line that starts with a name.
    static func value(_ name: String, in path: String) -> Substring? {
        text(path)?.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
    }

    /// The number after a name at the start of a line, without its unit.
    static func number(_ name: String, in path: String) -> Int? {
        value(name, in: path)?.split { $0 == " " || $0 == "\t" }.first.flatMap { Int($0) }
    }
}

/// Functions of glibc that Swift does not import.
enum CLibrary {
    /// Returns freed memory to the system, with `malloc_trim`.
    static func trimMemory() { _ = trim?(0) }

    /// Writes the cached data of an open file's file system to disk with `syncfs`; without it, of all file systems.
    static func flush(_ file: Int32) { if let syncfs { _ = syncfs(file) } else { sync() } }

    private static let trim = function("malloc_trim", as: (@convention(c) (Int) -> Int32).self)
    private static let syncfs = function("syncfs", as: (@convention(c) (Int32) -> Int32).self)

    private static func function<F>(_ name: String, as type: F.Type) -> F? {
        #if canImport(Darwin)
        nil
        #else
        dlsym(nil, name).map { unsafeBitCast($0, to: type) }
        #endif
    }
}
#endif
