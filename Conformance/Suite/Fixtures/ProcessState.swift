internal import Foundation

#if os(macOS)
internal import Darwin
#endif

/// The system resources of this process, for checks of leaks.
enum ProcessState {
    /// The private memory of this process in bytes, without mapped files, or `nil` if it is unknown.
    ///
    /// The peak is no replacement: it never falls, so that no second attempt exceeds it.
    private static var memory: Int? {
        #if os(macOS)
        var usage = rusage_info_v4()
        let status = withUnsafeMutablePointer(to: &usage) {
            $0.withMemoryRebound(to: rusage_info_t?.self, capacity: 1) { proc_pid_rusage(getpid(), RUSAGE_INFO_V4, $0) }
        }
        return status == 0 ? Int(usage.ri_phys_footprint) : nil
        #else
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let pages = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count == 3 ? (pages[1] - pages[2]) * Int(sysconf(Int32(_SC_PAGESIZE))) : nil
        #endif
    }

    /// Returns ``memory`` without what is free, or throws ``NotDecidable`` if it is unknown.
    ///
    /// Growth is the difference of two calls: what another check has freed must not count in one of them only.
    static func knownMemory() throws -> Int {
        returnFreeMemory()
        guard let memory else { throw NotDecidable("the memory that a process uses is unknown on this system") }
        return memory
    }

    /// Returns free memory to the system. A C library may keep it, and a leak that reuses it would not be seen.
    private static func returnFreeMemory() {
        #if canImport(Glibc)
        // The module of the C library does not contain this function.
        guard let function = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(function, to: (@convention(c) (Int) -> CInt).self)(0)
        #endif
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
    static func size(of folder: String) -> Int { files(in: folder).reduce(0) { $0 + $1.size } }

    /// Returns the paths of the regular files within a directory and their sizes in bytes, sorted by path.
    static func files(in folder: String) -> [(path: String, size: Int)] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.sorted().compactMap { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
            return (name, (attributes?[.size] as? Int) ?? 0)
        }
    }
}
