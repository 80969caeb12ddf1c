#if PostgreSQL
internal import Foundation
internal import TidelineSupport

/// A PostgreSQL server in a temporary folder, which it also listens in. It ends with this process, in whatever way the
/// process ends.
package final class DatabaseServer: Sendable {
    /// The reason that no server can be started, or `nil`.
    package static let obstacle: String? =
        programs == nil ? "PostgreSQL's server is not installed (package postgresql)" : nil
    package static let isInstalled = programs != nil

    /// The folder of the server's programs.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
        return folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    /// The folder of the data, the log, and the socket.
    package let folder: String
    private let programs: String
    private let supervisor = Process()
    private let commands = Pipe.uninherited()

    /// Starts a server as an ordinary user: PostgreSQL refuses to run as root.
    ///
    /// - Parameters:
    ///   - settings: Settings of the server, as NAME=VALUE.
    ///   - primary: The server that this one follows, or `nil` for a server with a new database cluster.
    /// - Throws: ``ToolError`` if the programs are not installed or the server does not start.
    package init(settings: [String] = [], following primary: DatabaseServer? = nil) throws {
        guard let programs = Self.programs else { throw ToolError(Self.obstacle ?? "") }
        self.programs = programs
        // Short, because the path of a socket has at most 107 bytes.
        folder = "/tmp/tideline-pg-\(UInt64.random(in: 0 ..< 1 << 40))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let log = "\(folder)/log"
        try Data().write(to: URL(fileURLWithPath: log))
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try output.seekToEnd()
        supervisor.executableURL = URL(fileURLWithPath: "/bin/sh")
        let options = settings.flatMap { ["-c", $0] }
        supervisor.arguments = ["-c", Self.script, "sh", programs, folder, primary?.folder ?? ""] + options
        supervisor.standardInput = commands
        supervisor.standardOutput = output
        supervisor.standardError = output
        supervisor.currentDirectoryURL = URL(fileURLWithPath: folder)
        try supervisor.run()
        try awaitConnection()
    }

    /// Starts the server, and again for each line read. At the end of its input, ends the server and removes the
    /// folder.
    private static let script = """
        programs=$1; folder=$2; primary=$3; shift 3
        user=
        if [ "$(id -u)" = 0 ]; then
            chown nobody "$folder"
            user='setpriv --reuid nobody --regid nogroup --clear-groups'
        fi
        start() {
            $user "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c max_connections=400 "$@" &
            server=$!
        }
        if [ -n "$primary" ]; then
            $user "$programs/pg_basebackup" -D "$folder/data" -d "host=$primary user=postgres" --write-recovery-conf \
                --checkpoint=fast --no-sync
        else
            $user "$programs/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions
            sed -i '1i local all secured scram-sha-256' "$folder/data/pg_hba.conf"
        fi
        start "$@"
        while read line; do start "$@"; done
        # Processes that are stopped receive no other signal.
        kill -CONT $server $(cat "/proc/$server/task/$server/children")
        kill -QUIT $server
        wait
        rm -rf "$folder"
        """

    deinit { end() }

    /// Ends the server and waits until its folder is removed.
    package func end() {
        try? commands.fileHandleForWriting.close()
        supervisor.waitUntilExit()
    }

    /// The connection string of a database.
    package func connection(to database: String = "postgres", user: String = "postgres") -> String {
        "host=\(folder) dbname=\(database) user=\(user) connect_timeout=300"
    }

    /// The location of a store in the database, as `--store` names it.
    package var location: String { "postgresql:host=\(folder),dbname=postgres,user=postgres,connect_timeout=300" }

    /// The messages of the server.
    package var log: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "" }

    /// Runs SQL with `psql`, and returns the values of all rows, or `nil` if the server does not accept it.
    package func run(_ sql: String) throws -> [String]? {
        let process = Process()
        let output = Pipe.uninherited()
        process.executableURL = URL(fileURLWithPath: "\(programs)/psql")
        process.arguments = [
            "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", sql, connection(),
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: text, as: UTF8.self).split(whereSeparator: { "\n|".contains($0) }).map(String.init)
    }

    // MARK: Failures

    /// Kills the server, which then has no time to write anything.
    package func kill() throws {
        guard let server else { throw ToolError("the server does not run") }
        // A stopped process starts no others.
        Foundation.kill(server, SIGSTOP)
        let processes = children(of: server) + [server]
        Foundation.kill(server, SIGKILL)
        // The processes of the connections end by themselves, and keep a new server from starting until then.
        try wait(until: "the server is gone") { !processes.contains(where: isRunning) }
    }

    /// Stops processes of the server, which then keep their connections and do not respond.
    ///
    /// - Parameter acceptsConnections: Whether the process that accepts connections goes on.
    /// - Returns: A closure that continues them.
    package func freeze(acceptsConnections: Bool = false) throws -> () -> Void {
        guard let server else { throw ToolError("the server does not run") }
        if !acceptsConnections { Foundation.kill(server, SIGSTOP) }
        let processes = children(of: server)
        for process in processes { Foundation.kill(process, SIGSTOP) }
        return { for process in processes + [server] { Foundation.kill(process, SIGCONT) } }
    }

    /// Kills one of the server's processes at random. The server then ends all connections, and starts again.
    package func killOneProcess() throws {
        guard let process = server.map(children)?.randomElement() else { return }
        Foundation.kill(process, SIGKILL)
        // Until then, the server still accepts connections, which it would end.
        try wait(until: "the server has noticed the end of a process") {
            !FileManager.default.fileExists(atPath: "/proc/\(process)")
        }
    }

    /// Starts the server again after it was killed.
    package func restart() throws {
        try commands.fileHandleForWriting.write(contentsOf: Data("start\n".utf8))
        try awaitConnection()
    }

    /// Waits until the server accepts connections.
    package func awaitConnection() throws {
        try wait(until: "a connection is accepted") { try run("SELECT 1") == ["1"] }
    }

    private var server: Int32? {
        let file = try? String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
        return file?.split(separator: "\n").first.flatMap { Int32($0) }
    }

    private func children(of process: Int32) -> [Int32] {
        let file = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        return (file ?? "").split(separator: " ").compactMap { Int32($0) }
    }

    private func isRunning(_ process: Int32) -> Bool {
        let state = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        return !state.isEmpty && !state.contains(") Z ")
    }

    private func wait(until state: String, _ holds: () throws -> Bool) throws {
        let start = ContinuousClock.now
        while try !holds() {
            guard ContinuousClock.now - start < .seconds(120) else {
                throw ToolError("PostgreSQL: no state in which \(state); the log is:\n\(log.suffix(3_000))")
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }
}
#endif
