// The differences between operating systems, in one place. Only Linux is compiled and tested; see the README.

internal import Synchronization

#if canImport(Darwin)
public import Darwin
#elseif canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#elseif canImport(Android)
public import Android
#elseif os(Windows)
public import ucrt
public import WinSDK
#elseif os(WASI)
public import WASILibc
#endif

/// A lock of the operating system without a queue: any waiting thread may acquire it next.
///
/// WebAssembly has one thread, which needs no lock.
///
/// `@unchecked Sendable`: the pointer never changes, and the lock it points to may be used from any thread.
@usableFromInline
@safe
package final class PlainLock: @unchecked Sendable {
    #if os(Windows)
    private let primitive = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)
    #elseif !os(WASI)
    private let primitive = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    #endif

    @usableFromInline
    package init() {
        #if os(Windows)
        unsafe InitializeSRWLock(primitive)
        #elseif !os(WASI)
        unsafe primitive.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(primitive, nil)
        #endif
    }

    deinit {
        // A lock of Windows needs no destruction.
        #if !os(Windows) && !os(WASI)
        unsafe pthread_mutex_destroy(primitive)
        #endif
        #if !os(WASI)
        unsafe primitive.deallocate()
        #endif
    }

    @usableFromInline
    package func lock() {
        #if os(Windows)
        unsafe AcquireSRWLockExclusive(primitive)
        #elseif !os(WASI)
        unsafe pthread_mutex_lock(primitive)
        #endif
    }

    @usableFromInline
    package func unlock() {
        #if os(Windows)
        unsafe ReleaseSRWLockExclusive(primitive)
        #elseif !os(WASI)
        unsafe pthread_mutex_unlock(primitive)
        #endif
    }
}

extension UnsafeRawPointer {
    /// Returns the order of `count` bytes relative to others: negative, zero, or positive. Bytes are unsigned.
    @inlinable
    @inline(__always)
    package func compareBytes(_ other: UnsafeRawPointer, count: Int) -> Int { unsafe Int(memcmp(self, other, count)) }

    /// Returns the first of `count` bytes that equals `byte`, or `nil` if there is none.
    @inlinable
    @inline(__always)
    package func firstByte(_ byte: UInt8, count: Int) -> UnsafeRawPointer? {
        unsafe UnsafeRawPointer(memchr(self, Int32(byte), count))
    }
}

/// Whether there is no file or folder at the path, and no symbolic link either. `false` if that cannot be determined.
func isMissing(_ path: String) -> Bool {
    #if os(Windows)
    let attributes = unsafe path.withCString(encodedAs: UTF16.self) { unsafe GetFileAttributesW($0) }
    return attributes == INVALID_FILE_ATTRIBUTES && GetLastError() == DWORD(ERROR_FILE_NOT_FOUND)
    #else
    var status = stat()
    return unsafe lstat(path, &status) != 0 && errno == ENOENT
    #endif
}

/// Returns a number that identifies the current thread. A thread identifier is a number or a pointer, depending on the
/// system.
func currentThread() -> UInt {
    #if os(Windows)
    return UInt(GetCurrentThreadId())
    #elseif os(WASI)
    return 0
    #else
    let thread = pthread_self()
    return unsafe withUnsafeBytes(of: thread) { unsafe $0.loadUnaligned(as: UInt.self) }
    #endif
}

/// The process in which a store was opened. A child of it cannot use the store, whose files, locks, and threads belong
/// to the parent.
///
/// A child process counts when it begins, so that a comparison needs no system call.
package struct OpeningProcess: Sendable {
    private static let forkCount = Atomic(0)

    #if !os(Windows) && !os(WASI)
    private static let isObserved: Bool =
        pthread_atfork(
            nil, nil, { OpeningProcess.forkCount.add(1, ordering: .relaxed) }) == 0
    #else
    private static let isObserved = true
    #endif

    private let forkCount: Int

    /// Remembers the current process.
    package init() {
        _ = Self.isObserved
        forkCount = Self.forkCount.load(ordering: .relaxed)
    }

    /// Whether the current process is a child of it.
    package var isForked: Bool { forkCount != Self.forkCount.load(ordering: .relaxed) }
}

#if !os(Windows)
extension StoreError {
    /// Creates the error for a store whose files are not at its path anymore. A commit there would be found by nobody.
    package static func filesMoved(path: String?) -> StoreError {
        StoreError(
            .io,
            "the files were removed, renamed, or replaced while the store was open; close it in this process, then open it "
                + "again", path: path)
    }

    /// Creates the error for a failed system call.
    package static func system(_ number: Int32, path: String, doing: String) -> StoreError {
        let reason = unsafe String(cString: strerror(number))
        return StoreError(Code(systemError: number), "\(doing): \(reason)", path: path, engineCode: Int(number))
    }
}

extension StoreError.Code {
    /// Creates the code for a value of `errno`.
    package init(systemError: Int32) {
        self =
            switch systemError {
            case ENOSPC, EDQUOT, EFBIG: .full
            case EACCES, EROFS, EPERM: .readOnly
            case EAGAIN, EBUSY: .busy
            default: .io
            }
    }
}
#endif
