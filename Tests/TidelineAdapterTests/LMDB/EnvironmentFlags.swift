import CLMDB

@testable import TidelineLMDB

extension Environment {
    /// The current flags of the LMDB environment.
    var flags: UInt32 {
        var flags: UInt32 = 0
        mdb_env_get_flags(handle, &flags)
        return flags
    }
}
