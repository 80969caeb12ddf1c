#if Tool
internal import ArgumentParser
internal import Foundation
internal import Tideline
internal import TidelineAsyncHTTPClient
internal import TidelineConformance
internal import TidelineServerConformance

/// The options of `tideline conformance --server`.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Check this server instead of stores.",
            discussion: """
                The suite writes rows of its own into one table and deletes them. The table needs the columns \
                \(ServerConformance.columns), unless the server creates columns with the first row.
                """,
            valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "The dialect of the server: \(DialectOption.names). The default is zumo2.",
            discussion: "May be repeated, for a server of several dialects.", valueName: "name"),
        transform: DialectOption.client)
    var dialect: [ServerDialect] = []

    @Option(
        help: ArgumentHelp(
            "The table that the suite may write. The default is \(Self.defaults.table).", valueName: "name"))
    var table: String?

    @Flag(help: "Accept a table that contains rows of others, which the suite does not change.")
    var allowRows = false

    @Option(help: ArgumentHelp("A file with the token of a signed-in user.", valueName: "path"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("An environment variable with the token of a signed-in user.", valueName: "name"))
    var tokenVariable: String?

    private static let defaults = ServerConformance.Options()
    /// The number of rows that checks can read, with some pages of 50, in fewer than the requests of a run.
    private static let maximumRows = 50_000

    /// Checks that no option of this group is used without `--server`.
    func confirmNoneIsSet() throws {
        let used: [(String, Bool)] = [
            ("--dialect", !dialect.isEmpty), ("--table", table != nil), ("--allow-rows", allowRows),
            ("--token-file", tokenFile != nil), ("--token-variable", tokenVariable != nil),
        ]
        if let option = used.first(where: \.1)?.0 { throw ValidationError("\(option) needs --server.") }
    }

    /// The options of this group with which a check is repeated, besides the address and the dialect.
    var repeating: [String] {
        let named = [("--table", table), ("--token-file", tokenFile), ("--token-variable", tokenVariable)]
        var words = allowRows ? ["--allow-rows"] : []
        for (name, value) in named { if let value { words += [name, value] } }
        return words
    }

    /// Returns the suites for the server, one for each dialect.
    /// - Throws: `ValidationError` for an invalid address, too many rows, and a token that cannot be read.
    func suites(_ url: String, rows: Int?, rounds: Int, timeLimit: Duration) throws -> [ServerConformance] {
        guard rows ?? 0 <= Self.maximumRows else {
            throw ValidationError("--rows must be at most \(Self.maximumRows) with --server.")
        }
        var options = Self.defaults
        options.table = table ?? options.table
        options.allowsRows = allowRows
        options.token = try token()
        options.rows = rows ?? options.rows
        options.rounds = rounds
        options.timeLimit = timeLimit
        do {
            return try (dialect.isEmpty ? [.zumo2] : dialect).map { dialect in
                try ServerConformance(
                    url: url, dialect: dialect, transport: AsyncHTTPClientTransport.shared, options: options)
            }
        } catch let error as SyncError {
            throw ValidationError("--server: \(error.message).")
        }
    }

    private func token() throws -> String? {
        guard tokenFile == nil || tokenVariable == nil else {
            throw ValidationError("--token-file and --token-variable cannot be combined.")
        }
        if let tokenFile {
            guard let text = try? String(contentsOfFile: tokenFile, encoding: .utf8) else {
                throw ValidationError("--token-file: \(tokenFile) cannot be read.")
            }
            return try confirmed(text, "--token-file: \(tokenFile)")
        }
        guard let tokenVariable else { return nil }
        guard let text = ProcessInfo.processInfo.environment[tokenVariable] else {
            throw ValidationError("--token-variable: the environment has no variable \(tokenVariable).")
        }
        return try confirmed(text, "--token-variable: \(tokenVariable)")
    }

    private func confirmed(_ text: String, _ source: String) throws -> String {
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ValidationError("\(source) contains no token.")
        }
        return token
    }
}
#endif
