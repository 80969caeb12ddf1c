import Foundation
import Synchronization
import TidelinePostgreSQL
import TidelineStore
import TidelineTestSupport

/// A PostgreSQL server in a temporary folder, which it also listens in. It ends with this process, in whatever way the
/// process ends.
final class TestServer: Sendable {
    /// The server of all tests that do not need their own. It does not wait for the disk.
    static let shared = Result { try TestServer(settings: ["fsync=off", "full_page_writes=off"]) }

    /// The reason that no server can be started, or `nil`.
    static let obstacle: String? = programs == nil ? "PostgreSQL's server is not installed (package postgresql)" : nil
    static let isInstalled = programs != nil

    /// The folder of the server's programs.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
        return folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let folder: String
    private let supervisor = Process()
    private let commands = Pipe()

    /// Starts a server as an ordinary user: PostgreSQL refuses to run as root.
    init(settings: [String] = []) throws {
        guard let programs = Self.programs else { throw Failure(description: Self.obstacle ?? "") }
        // Short, because the path of a socket has at most 107 bytes.
        folder = "/tmp/tideline-pg-\(UInt64.random(in: 0 ..< 1 << 40))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let log = "\(folder)/log"
        try Data().write(to: URL(fileURLWithPath: log))
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try output.seekToEnd()
        supervisor.executableURL = URL(fileURLWithPath: "/bin/sh")
        let options = settings.flatMap { ["-c", $0] }
        supervisor.arguments = ["-c", Self.script, "sh", programs, folder] + options
        supervisor.standardInput = commands
        supervisor.standardOutput = output
        supervisor.standardError = output
        supervisor.currentDirectoryURL = URL(fileURLWithPath: folder)
        try supervisor.run()
        try awaitConnection()
    }

    /// Starts the server, and again for each line read. At the end of its input, ends the server and removes the folder.
    private static let script = """
        programs=$1; folder=$2; shift 2
        user=
        if [ "$(id -u)" = 0 ]; then
            chown nobody "$folder"
            user='setpriv --reuid nobody --regid nogroup --clear-groups'
        fi
        start() {
            $user "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c max_connections=400 "$@" &
            server=$!
        }
        $user "$programs/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions
        sed -i '1i local all secured scram-sha-256' "$folder/data/pg_hba.conf"
        start "$@"
        while read line; do start "$@"; done
        kill -QUIT $server
        wait
        rm -rf "$folder"
        """

    deinit { end() }

    /// Ends the server and waits until its folder is removed.
    func end() {
        try? commands.fileHandleForWriting.close()
        supervisor.waitUntilExit()
    }

    /// The connection string of a database.
    func connection(to database: String = "postgres", user: String = "postgres") -> String {
        "host=\(folder) dbname=\(database) user=\(user)"
    }

    /// What the server has logged.
    var log: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "" }

    /// Kills the server, which then has no time to write anything.
    func kill() throws {
        let file = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
        guard let number = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw Failure(description: "the server does not run")
        }
        // The processes of the connections end by themselves when the server is gone.
        Foundation.kill(number, SIGKILL)
        try awaitState("the server is gone") { !self.isRunning(number) }
    }

    private func isRunning(_ number: Int32) -> Bool {
        let state = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ""
        return !state.isEmpty && !state.contains(") Z ")
    }

    /// Starts the server again after it was killed.
    func restart() throws {
        try commands.fileHandleForWriting.write(contentsOf: Data("start\n".utf8))
        try awaitConnection()
    }

    private func awaitConnection() throws {
        try awaitState("a connection is accepted") { (try? self.query("SELECT 1")) == [["1"]] }
    }

    private func awaitState(_ state: String, _ holds: () -> Bool) throws {
        let start = ContinuousClock.now
        while !holds() {
            guard ContinuousClock.now - start < .seconds(120) else {
                throw Failure(description: "no state in which \(state); the log is:\n\(log.suffix(3_000))")
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    /// Runs SQL as another program would and returns the rows as text, with `nil` for null.
    @discardableResult
    func query(_ sql: String, in database: String = "postgres") throws -> [[String?]] {
        try PlainConnection(connection(to: database)).query(sql)
    }

    /// Makes a database and returns its connection string.
    func makeDatabase(_ options: String = "") throws -> String {
        let name = "d\(UInt64.random(in: 0 ... .max))"
        try query("CREATE DATABASE \(name) \(options)")
        return connection(to: name)
    }

    /// Opens a store in a schema of its own.
    static func makeStore(
        _ tables: TableSchema..., options: PostgreSQLOptions = PostgreSQLOptions()
    ) throws -> PostgreSQLStore {
        var options = options
        options.schema = "s\(UInt64.random(in: 0 ... .max))"
        let store = try PostgreSQLStore(connection: try shared.get().connection(), options: options)
        try store.define(tables)
        return store
    }
}
