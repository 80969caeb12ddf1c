import Foundation
import Testing
import TidelineMemory
import TidelineStore

@testable import TidelineConformance

/// Tests that the page *Promises* has every sentence of the contract, with checks that exist.
@Suite struct PromiseTests {
    /// Returns the sentences of the documentation comments in a source.
    private static func sentences(of source: String) -> [String] {
        var (sentences, paragraph) = ([String](), "")
        func endParagraph() {
            sentences += split(paragraph)
            paragraph = ""
        }
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line.trimmingCharacters(in: .whitespaces)
            let content = line.hasPrefix("///") ? line.dropFirst(3).trimmingCharacters(in: .whitespaces) : ""
            switch content.first {
            case nil, "#": endParagraph()
            case "|":
                endParagraph()
                let cells = content.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                if cells[0] != "circumstance", !cells[0].hasPrefix("---") {
                    sentences.append(cells.joined(separator: ": "))
                }
            case "-":
                endParagraph()
                paragraph = String(content.dropFirst(2))
            default: paragraph += paragraph.isEmpty ? content : " \(content)"
            }
        }
        endParagraph()
        return sentences
    }

    /// Splits a paragraph after each full stop that a space and the beginning of a sentence follow.
    private static func split(_ paragraph: String) -> [String] {
        paragraph.replacing(/\. (?=[A-Z`*])/, with: ".\n").split(separator: "\n").map(String.init)
    }

    @Test func thePageOfPromisesHasEverySentenceOfTheContract() throws {
        let page = try packageText("Conformance/Suite/TidelineConformance.docc/Promises.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map { row in
            row.dropFirst(2).dropLast(2).components(separatedBy: " | ")
        }
        let contract = try packageText("Sources/TidelineStore/Contract/LocalStore.swift")
        let expected = Self.sentences(of: contract)
        #expect(expected.count > 90)
        #expect(rows.map { $0.first ?? "" } == expected, "the page differs from the documentation of LocalStore")
        let cells = rows.map { $0.last ?? "" }
        for id in cells.filter({ $0 != "–" }).joined(separator: " ").split(separator: " ") {
            #expect(Check.named(id.trimmingCharacters(in: ["`"])) != nil, "there is no check \(id)")
        }
        #expect(cells.count { $0 != "–" } >= 85)
    }

    @Test func aStoreIsHeldToThePromisesOfItsVersionOnly() async throws {
        let later = Check("UPS-999", "It keeps a later promise", since: 2) { _ in throw CheckFailure("it does not") }
        let suites = [1, 2].map { version in
            ConformanceSuite { _ in DeclaringStore(try MemoryStore()) { $0.contractVersion = version } }
        }
        let earlier = await suites[0].run(later)
        #expect(earlier.status == .skipped)
        #expect(
            earlier.reason == "declared: written for version 1 of the contract, which promises this since version 2")
        #expect(await suites[1].run(later).status == .failed)
        #expect(Check.all.allSatisfy { $0.since == 1 })
    }
}
