import TidelinePostgreSQL
import TidelineTestStores

#if PostgreSQL
@testable import TidelineTool
#endif

extension StoreKind {
    /// A kind of each engine that a server can use. PostgreSQL is one if its server is installed, and the tests have
    /// the trait with the type that starts it.
    #if PostgreSQL
    static let served = perEngine + (DatabaseServer.isInstalled ? [postgreSQL] : [])

    private static let postgreSQL = StoreKind("PostgreSQL") {
        // A busy machine may exceed the default time limits.
        let options = PostgreSQLOptions(
            schema: "s\(UInt64.random(in: 0 ... .max))", busyTimeout: .seconds(300), responseTimeout: .seconds(300))
        return try PostgreSQLStore(connection: database.get().connection(), options: options)
    }

    /// It does not wait for the disk.
    private static let database = Result { try DatabaseServer(settings: ["fsync=off", "full_page_writes=off"]) }
    #else
    static let served = perEngine
    #endif
}
