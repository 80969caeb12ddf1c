#if PostgreSQL
internal import ArgumentParser
internal import TidelinePostgreSQL
internal import TidelineStore

extension StoreEngine {
    /// The names of libpq's settings that can be given like the store's own. A password is not one of them.
    private static let connectionSettings = [
        "host", "hostaddr", "port", "dbname", "user", "passfile", "service", "connect_timeout", "sslmode",
        "sslcert", "sslkey", "sslrootcert", "target_session_attrs", "keepalives_idle", "tcp_user_timeout", "options",
    ]

    static let postgresql = StoreEngine(
        name: "postgresql",
        usage: """
            host=HOST,dbname=DATABASE,user=USER, settings of libpq, or a URL, postgresql://USER@HOST/DATABASE. What is \
            missing comes from the environment (PGHOST, PGPASSFILE, …), as the password must
            """,
        keepsRows: true,
        settings: ["schema", "durability", "read-only", "busy-timeout", "response-timeout", "maximum-readers"]
            + connectionSettings,
        allowsEmptyPath: true,
        nameSetting: "schema",
        prepare: prepareDatabase,
        destroy: destroyStore
    ) { path, settings, access in
        let connection = try connectionString(path, settings)
        var options = PostgreSQLOptions(createsIfMissing: access.createsIfMissing)
        options.durability = try settings.choice("durability", ["normal": .normal, "full": .full]) ?? .full
        options.isReadOnly = try settings.isOn("read-only") || access.isReadOnly
        if let schema = settings.text("schema") { options.schema = schema }
        if let seconds = try settings.seconds("busy-timeout") { options.busyTimeout = seconds }
        if let seconds = try settings.seconds("response-timeout") { options.responseTimeout = seconds }
        if let count = try settings.number("maximum-readers", in: 1...1_000) { options.maximumReaders = count }
        return { [options] in try PostgreSQLStore(connection: connection, options: options) }
    }

    /// Checks the connection of a command that creates its own stores.
    @Sendable private static func prepareDatabase(_ settings: StoreSettings) throws {
        try ScratchSchemas.prepare(connectionString("", settings))
    }

    @Sendable private static func destroyStore(_ path: String, _ settings: StoreSettings) throws {
        var options = PostgreSQLOptions()
        if let schema = settings.text("schema") { options.schema = schema }
        // A store that is open stays open.
        options.busyTimeout = .seconds(1)
        try PostgreSQLStore.destroy(connection: connectionString(path, settings), options: options)
    }

    /// Returns the connection string for the part after the colon and the settings after it.
    /// - Throws: `ValidationError` if there is a password, which other users could see in the list of processes.
    private static func connectionString(_ path: String, _ settings: StoreSettings) throws -> String {
        let isURL = path.contains("://")
        let authority = path.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        let userInfo = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast()
        guard !path.contains(/password\s*=/), !isURL || !userInfo.contains(where: { $0.contains(":") }) else {
            throw ValidationError(
                "other users can see a password in the list of processes; remove it and set PGPASSFILE or PGPASSWORD."
            )
        }
        let others = connectionSettings.compactMap { name in settings.text(name).map { (name, $0) } }
        guard !isURL || others.isEmpty else {
            throw ValidationError("write \(others[0].0) into the URL: ?\(others[0].0)=VALUE.")
        }
        let words = others.map { name, value in
            let escaped = value.replacingUTF8("\\", with: "\\\\").replacingUTF8("'", with: "\\'")
            return "\(name)='\(escaped)'"
        }
        return ([path] + words).joined(separator: " ").trimmingPrefix(" ").description
    }
}
#endif
