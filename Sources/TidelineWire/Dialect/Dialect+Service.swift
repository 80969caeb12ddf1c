package import HTTPTypes
internal import TidelineStore

extension Dialect {
    /// Returns a request that calls a custom API of the server.
    /// - Parameter name: The path of the API, relative to the root of the server's APIs, with segments separated by
    ///   `/`.
    package func invokeAPI(
        _ name: String, method: HTTPRequest.Method, parameters: [(String, String)], headers: HTTPFields, body: [UInt8]?
    ) throws(WireError) -> WireRequest {
        let segments = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var target = try Target("api", segments: segments)
        for (name, value) in parameters {
            guard !name.isEmpty else { throw WireError(.invalidRequest, "a parameter name must not be empty") }
            target.append(PercentEncoding.encode(name), value)
        }
        var fields: HTTPFields = [.zumoAPIVersion: apiVersion, .accept: "application/json"]
        if body != nil { fields[.contentType] = "application/json" }
        for field in headers { fields[fields: field.name] = headers[fields: field.name] }
        return WireRequest(method: method, target: target.text, headers: fields, body: body)
    }

    /// Returns a request that exchanges the token of an identity provider for a token of the server.
    package func signIn(provider: String, token: [String: String]) throws(WireError) -> WireRequest {
        let target = try Target(".auth/login", segments: [provider])
        var row = Row()
        for (name, value) in token.sorted(by: { $0.key < $1.key }) { row[name] = .string(value) }
        var writer = JSONWriter()
        writer.append(row) { _ in true }
        let headers: HTTPFields = [
            .zumoAPIVersion: apiVersion, .accept: "application/json", .contentType: "application/json",
        ]
        return WireRequest(method: .post, target: target.text, headers: headers, body: writer.bytes)
    }

    /// Returns the user and the authentication token in the response to ``signIn(provider:token:)``.
    ///
    /// - Throws: ``WireError`` if the response does not contain both. The error never contains the response.
    package func signedInUser(_ body: [UInt8]) throws(WireError) -> (id: String, token: String) {
        let answer = try JSONRow.parse(body)
        guard let token = answer["authenticationToken"]?.string, !token.isEmpty, HTTPField.isValidValue(token),
            case .json(let text)? = answer["user"], let id = try JSONRow.parse(Array(text.utf8))["userId"]?.string,
            !id.isEmpty
        else {
            throw WireError(
                .wrongShape, "the response to a sign-in must contain an authenticationToken and a user with a userId")
        }
        return (id, token)
    }
}
