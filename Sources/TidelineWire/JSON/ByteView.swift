/// Bytes that someone else owns and keeps for as long as they are read.
///
/// Unsafe pointers: an `UnsafeRawBufferPointer` asks at every use whether it has a beginning and computes its length
/// from its end, a tenth of the time that a page takes. Who loads has compared the offset with ``count`` before; debug
/// builds check it here once more.
struct ByteView {
    let base: UnsafeRawPointer
    let count: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        // A buffer without bytes may have no beginning; none is read from it, so that any address will do.
        base = bytes.baseAddress ?? UnsafeRawPointer(StaticString("").utf8Start)
        count = bytes.count
    }

    @inline(__always)
    subscript(offset: Int) -> UInt8 {
        assert(offset >= 0 && offset < count, "outside of the bytes")
        return base.load(fromByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    func loadUnaligned<T: BitwiseCopyable>(fromByteOffset offset: Int, as type: T.Type) -> T {
        assert(offset >= 0 && count - offset >= MemoryLayout<T>.size, "outside of the bytes")
        return base.loadUnaligned(fromByteOffset: offset, as: type)
    }

    @inline(__always)
    func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        assert(start >= 0 && end >= start && end <= count, "outside of the bytes")
        return UnsafeRawBufferPointer(start: base + start, count: end - start)
    }
}
