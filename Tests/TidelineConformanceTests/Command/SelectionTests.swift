#if Commands
import ArgumentParser
import Testing
import TidelineMemory
import TidelineSupport

@testable import TidelineConformance

@Suite("Selection of checks and stores")
struct SelectionTests {
    @Test(
        "A pattern is an id, a prefix of ids, a group's name, or words of a promise",
        arguments: ["UPS-001", "ups-001", "An insert stores the row, with null in the columns that it does not name"])
    func one(pattern: String) throws {
        #expect(try CheckSelection(profile: .full, patterns: [pattern]).checks.map(\.id) == ["UPS-001"])
    }

    @Test("Each name of a group finds the group", arguments: CheckGroup.allCases)
    func groups(group: CheckGroup) throws {
        let expected = Check.all.filter { $0.group == group }
        if expected.isEmpty { return }
        for name in [group.rawValue, group.rawValue.lowercased(), "\(group)", group.title] {
            let profile = group == .long ? Profile.long : .full
            #expect(try CheckSelection(profile: profile, patterns: [name]).checks == expected, "\(name)")
        }
    }

    @Test("Several patterns find the union of their checks, once and in order; no pattern finds the profile")
    func several() throws {
        let ids = try CheckSelection(profile: .full, patterns: ["UPS-002", "UPS-001", "UPS-00"]).checks.map(\.id)
        #expect(ids == Check.all.map(\.id).filter { $0.hasPrefix("UPS-00") })
        #expect(try CheckSelection(profile: .syncCore, patterns: []).checks == Profile.syncCore.checks)
        #expect(throws: ValidationError.self) { try CheckSelection(profile: .syncCore, patterns: ["UPS"]) }
        #expect(throws: ValidationError.self) { try CheckSelection(profile: .full, patterns: ["UPS", "nonsense"]) }
    }

    @Test("Stores are named individually or separated by commas; settings follow their store")
    func words() throws {
        let words = try StoreWord.words(["a,b,x=1,y=2", "c"], names: ["a", "b", "c"])
        #expect(words == [.init(name: "a"), .init(name: "b", settings: ["x=1", "y=2"]), .init(name: "c")])
        #expect(words[1].text == "b,x=1,y=2")
        #expect(try StoreWord.words(["a,b=1"], names: ["a,b=1"]) == [.init(name: "a,b=1")])
        #expect(throws: ValidationError.self) { try StoreWord.words(["x=1"], names: []) }
        #expect(throws: ValidationError.self) { try StoreWord.words(["a", "a"], names: ["a"]) }
    }

    @Test("A store with settings is opened with them and named after them")
    func configuring() throws {
        let plain = StoreHarness(name: "a", modes: []) { _ in try MemoryStore() }
        let stores = ConformanceStores([plain]) { store, settings in
            guard settings == ["x=1"] else { throw ValidationError("no setting \(settings)") }
            return StoreHarness(name: store, modes: [.limitedSize]) { _ in try MemoryStore() }
        }
        let made = try stores.store(StoreWord(name: "a", settings: ["x=1"]))
        #expect(made.name == "a,x=1")
        #expect(made.modes == [.limitedSize])
        #expect(try stores.store(StoreWord(name: "a")).modes == [])
        #expect(throws: ValidationError.self) { try stores.store(StoreWord(name: "a", settings: ["y=1"])) }
        #expect(throws: ValidationError.self) { try stores.store(StoreWord(name: "b")) }
    }
}
#endif
