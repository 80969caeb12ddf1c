import Foundation
import HTTPTypes
import Synchronization
import Tideline
import TidelineURLSession

/// Where a Kinto server keeps its records.
enum Backend: String, CaseIterable, Sendable {
    case memory, postgresql

    /// The Python that has the package `kinto`.
    static let python = ProcessInfo.processInfo.environment["KINTO_PYTHON"]
    static let databasePrograms: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.max { (Int($0) ?? 0) < (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
    }()
    /// The back ends that can run on this machine.
    static let available = python == nil ? [] : databasePrograms == nil ? [memory] : allCases
    /// Those of them whose records survive a kill, and can be changed with SQL.
    static let databases = available.filter { $0 == .postgresql }
}

/// A Kinto server in processes of its own, which end with this process. One test uses it at a time.
final class KintoServer: Sendable {
    private static let running = Mutex<[Backend: KintoServer]>([:])

    /// The address of the server, and that of a proxy that cuts one response in four.
    let addresses: (direct: String, cutting: String)
    private let (input, output): (FileHandle, FileHandle)

    /// Returns the server with a back end, which is started once.
    static func shared(_ backend: Backend) throws -> KintoServer {
        try running.withLock { running in
            if let server = running[backend] { return server }
            let server = try KintoServer(backend)
            running[backend] = server
            return server
        }
    }

    private init(_ backend: Backend) throws {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "kinto_server.py")
        process.executableURL = URL(fileURLWithPath: Backend.python ?? "")
        process.arguments = [script.path, backend.rawValue, Backend.databasePrograms ?? ""]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        (self.input, self.output) = (input.fileHandleForWriting, output.fileHandleForReading)
        let ports = Self.line(from: self.output).split(separator: " ")
        guard ports.count == 2 else { throw Failure("the Kinto server did not start") }
        addresses = ("http://127.0.0.1:\(ports[0])/v1", "http://127.0.0.1:\(ports[1])/v1")
    }

    struct Failure: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private static func line(from file: FileHandle) -> String {
        var bytes: [UInt8] = []
        while let byte = file.readData(ofLength: 1).first, byte != 10 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Runs a command of the script, and waits for its end.
    func run(_ command: String) throws {
        try input.write(contentsOf: Data("\(command)\n".utf8))
        guard Self.line(from: output) == "done" else { throw Failure("the command \(command) failed") }
    }

    /// Sends a request as another app would.
    @discardableResult
    func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> TransportResponse {
        let address = addresses.direct.dropFirst("http://".count).split(separator: "/")
        var request = HTTPRequest(
            method: method, scheme: "http", authority: String(address[0]), path: "/v1/\(path)")
        request.headerFields[.authorization] = "Basic \(Data("ann:secret".utf8).base64EncodedString())"
        request.headerFields[.contentType] = "application/json"
        let response = try await URLSessionTransport.shared.send(
            request, body: body.map { Array($0.utf8) }, timeout: .seconds(60))
        guard (200..<300).contains(response.response.status.code) else {
            throw Failure("\(method) \(path): \(String(decoding: response.body, as: UTF8.self))")
        }
        return response
    }
}
