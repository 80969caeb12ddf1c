#if Tool
import ArgumentParser
import Testing
import TidelineStore
import TidelineSupport

@testable import TidelineTool

@Suite("Store locations: ENGINE:PATH[,NAME=VALUE…]")
struct StoreLocationTests {
    @Test(
        "Engine and path are separated, and each engine accepts its own path and settings",
        arguments: [
            ("sqlite:todo.db", "todo.db"), ("sqlite:/tmp/a b/ü.db", "/tmp/a b/ü.db"), ("sqlite:C:todo.db", "C:todo.db"),
            ("sqlite::memory:", ":memory:"), ("sqlite:a.db,durability=full", "a.db"), ("sqlite:a,,b.db", "a,b.db"),
            ("sqlite:a,,,durability=full", "a,"), ("sqlite:a=b.db", "a=b.db"),
            ("sqlite:a.db,durability=normal,read-only=yes,busy-timeout=2.5", "a.db"), ("lmdb:todo.lmdb", "todo.lmdb"),
            ("lmdb:a,durability=none,read-only=yes,busy-timeout=1,map-size=64K,maximum-map-size=2T", "a"),
            ("lmdb:a,verification=never", "a"),
            ("leveldb:b,durability=full,cache-size=8M,write-buffer-size=1048576,filter-bits=0,compression=no", "b"),
            ("memory:", ""), ("memory", ""), ("postgresql:", ""), ("postgresql:host=/tmp,dbname=a,,b,schema=s", ""),
            ("postgresql:host=/tmp dbname=a,schema=s,durability=full", "host=/tmp dbname=a"),
            ("postgresql:postgresql://a@b/c,maximum-readers=3", "postgresql://a@b/c"),
        ])
    func understands(text: String, path: String) throws {
        let location = try StoreLocation(parsing: text)
        #expect(location.engine == text.prefix { $0 != ":" } && location.path == path)
        #expect(location.text == (text == "memory" ? "memory:" : text))
    }

    @Test(
        "An invalid part is named, with the valid choices",
        arguments: [
            ("", "has no engine"), ("todo.db", "such as sqlite:todo.db"), (":todo.db", "such as sqlite:todo.db"),
            ("sqlit:todo.db", "Did you mean \"sqlite\"? The engines are: sqlite"),
            ("SQLITE:a.db", "Did you mean \"sqlite\"?"),
            ("oracle:a.db", "no store engine \"oracle\". The engines are"), ("sqlite:", "has no path"),
            ("postgresql:postgresql://a:secret@b/c", "set PGPASSFILE"),
            ("postgresql:user=a password=b", "set PGPASSFILE"),
            ("postgresql:user=a,password=b", "no setting \"password\""),
            ("postgresql:postgresql://a@b/c,port=1", "into the URL: ?port=VALUE"),
            ("sqlite:,durability=full", "has no path"), ("sqlite:a.db,", "is not a setting"),
            ("sqlite:a,b.db", "double each comma in a path"),
            ("sqlite:a.db,durabilty=full", "Did you mean \"durability\"?"),
            ("sqlite:a.db,zebra=1", "no setting \"zebra\". Its settings are: durability, read-only, busy-timeout"),
            ("sqlite:a.db,durability=fast", "durability must be full or normal, not \"fast\""),
            ("sqlite:a.db,durability=", "not \"\""), ("sqlite:a.db,read-only=true", "read-only must be no or yes"),
            ("sqlite:a.db,durability=full,durability=full", "given more than once"),
            ("sqlite:a.db,busy-timeout=-1", "from 0 to 86400"), ("sqlite:a.db,busy-timeout=nan", "from 0 to 86400"),
            ("sqlite:a.db,busy-timeout=soon", "from 0 to 86400"),
            ("lmdb:", "has no path"), ("leveldb:a,durability=none", "durability must be full or normal"),
            ("lmdb:a,durability=some", "durability must be full or none or normal"),
            ("memory:x", "memory takes no path"), ("memory:,durability=full", "memory has no settings"),
            ("lmdb", "write lmdb:PATH."), ("sqlite,durability=full", "write sqlite:PATH."),
            ("postgresql", "write postgresql:host=HOST"), ("lmbd:a", "Did you mean \"lmdb\"?"),
            ("lmdb:a,map-size=0", "from 64K to 64T"), ("lmdb:a,map-size=63K", "from 64K to 64T"),
            ("lmdb:a,map-size=65T", "from 64K to 64T"), ("lmdb:a,map-size=9999999999999999999T", "from 64K to 64T"),
            ("lmdb:a,map-size=-1G", "from 64K to 64T"), ("lmdb:a,map-size=1.5G", "such as 256M"),
            ("lmdb:a,map-size=", "not \"\""), ("lmdb:a,map-size=K", "not \"K\""),
            ("leveldb:a,filter-bits=65", "from 0 to 64"), ("leveldb:a,filter-bits=ten", "not \"ten\""),
        ])
    func refuses(text: String, part: String) throws {
        let error = try #require(#expect(throws: ValidationError.self) { try StoreLocation(parsing: text) })
        #expect(error.message.contains(part), "\(error.message)")
    }

    @Test("A command that makes its own stores accepts the same names, without a path")
    func namesAlone() throws {
        let names: Set<String> = ["sqlite", "memory", "a:b"]
        let words = try StoreWord.words(["sqlite:,durability=full", "memory:", "a:b"], names: names)
        #expect(words.map(\.text) == ["sqlite,durability=full", "memory", "a:b"])
        #expect(throws: ValidationError.self) { try StoreWord.words(["sqlite:todo.db"], names: names) }
        let word = try StoreWord.words(["sqlite:folder,durability=full"], names: names, acceptsFolders: true)
        #expect(word == [StoreWord(name: "sqlite:folder", settings: ["durability=full"])])
        #expect(try StoreEngine.withoutPath("lmdb").name == "lmdb")
        #expect(try StoreEngine.withoutPath("lmdb:").name == "lmdb")
        #expect(throws: ValidationError.self) { try StoreEngine.withoutPath("lmdb:todo.lmdb") }
    }

    @Test("A suggestion is made only for a typing error")
    func suggestions() {
        #expect(suggestion(for: "strign", among: ["string", "bool"]) == " Did you mean \"string\"?")
        #expect(suggestion(for: "columms", among: ["columns"]) == " Did you mean \"columns\"?")
        let views = ["get-each-view", "get-one-view"]
        #expect(suggestion(for: "get-on", among: views) == " Did you mean \"get-one-view\"?")
        for (word, names) in [("zebra", ["string", "bool"]), ("B", ["A"]), ("", ["bool"]), ("bool", [])] {
            #expect(suggestion(for: word, among: names) == "", "\(word)")
        }
    }

    @Test("A store is open during the body and closed after it, also if the body throws")
    func withStoreCloses() async throws {
        struct Failure: Error {}
        let location = try StoreLocation(parsing: "sqlite::memory:")
        let kept = try await withStore(location) { store in
            try store.define([TableSchema("T", columns: [.string("a")])])
            return store
        }
        #expect(throws: StoreError.self) { try kept.tables() }

        var failed: (any LocalStore)?
        await #expect(throws: Failure.self) {
            try await withStore(location) { store in
                failed = store
                throw Failure()
            }
        }
        let store = try #require(failed)
        #expect(throws: StoreError.self) { try store.tables() }
    }
}
#endif
