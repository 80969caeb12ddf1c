#if !os(Windows)
package import Foundation

extension Pipe {
    /// Makes a pipe for a process. Foundation's own pipes are inherited by each process that another thread starts at
    /// the same time, and do not end before that process.
    package static func uninherited() -> Pipe {
        let pipe = Pipe()
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        return pipe
    }
}
#endif
