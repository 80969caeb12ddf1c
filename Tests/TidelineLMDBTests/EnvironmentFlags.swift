import CLMDB

@testable import TidelineLMDB

extension Environment {
    /// LMDB's flags, as they are now.
    var flags: UInt32 {
        var flags: UInt32 = 0
        mdb_env_get_flags(handle, &flags)
        return flags
    }
}
