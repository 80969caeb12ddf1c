internal import Foundation

/// The system resources of this process, for checks of leaks.
enum ProcessState {
    /// The private memory of this process in bytes, without mapped files, or, if that is unknown, the peak.
    static var memory: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return peakMemory }
        let pages = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count == 3 ? (pages[1] - pages[2]) * Int(sysconf(Int32(_SC_PAGESIZE))) : peakMemory
    }

    private static var peakMemory: Int {
        var usage = rusage()
        // 0 is RUSAGE_SELF, whose type differs between systems.
        getrusage(0, &usage)
        return Int(usage.ru_maxrss)
    }

    /// Returns the open files within a directory, including removed ones.
    static func openFiles(in folder: String) -> [String] {
        (0..<Int32(4_096)).compactMap(path).filter { $0.hasPrefix(folder + "/") }
    }

    /// Returns the path of an open file, or `nil` if the descriptor is not open or is not a file.
    private static func path(_ descriptor: Int32) -> String? {
        #if canImport(Darwin)
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard fcntl(descriptor, F_GETPATH, &path) != -1 else { return nil }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        return try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        #endif
    }

    /// Returns the total size in bytes of all files within a directory.
    static func size(of folder: String) -> Int {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }
}
