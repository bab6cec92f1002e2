import Testing

@testable import gatehouse

@Suite("Secrets of the attack suite in the environment")
struct AttackVariableTests {
    private let variable = AttackVariable(name: "GATEHOUSE_ATTACK_TOKEN")

    private func value(_ environment: [String: String]) throws(CommandFailure) -> String? {
        try variable.value(in: environment) { path throws(CommandFailure) in
            switch path {
            case "token": return Array("hunter2\n".utf8)
            case "empty": return Array("\n".utf8)
            case "forbidden": throw CommandFailure("forbidden: Permission denied")
            default: return nil
            }
        }
    }

    @Test("The variable holds the secret, or names a file that does, whose final newline is no part of it")
    func values() throws {
        #expect(try value([:]) == nil)
        #expect(try value(["GATEHOUSE_ATTACK_TOKEN": ""]) == nil)
        #expect(try value(["GATEHOUSE_ATTACK_TOKEN": "a.b.c"]) == "a.b.c")
        #expect(try value(["GATEHOUSE_ATTACK_TOKEN_FILE": "token"]) == "hunter2")
    }

    @Test(
        "Both, or a file that holds nothing, are wrong usage that names the variable and not the secret",
        arguments: [
            (["GATEHOUSE_ATTACK_TOKEN": "hunter2", "GATEHOUSE_ATTACK_TOKEN_FILE": "token"], "both"),
            (["GATEHOUSE_ATTACK_TOKEN_FILE": "nowhere"], "no such file"),
            (["GATEHOUSE_ATTACK_TOKEN_FILE": "forbidden"], "Permission denied"),
            (["GATEHOUSE_ATTACK_TOKEN_FILE": "empty"], "empty"),
        ])
    func faults(environment: [String: String], words: String) {
        do throws(CommandFailure) {
            let found = try value(environment)
            Issue.record("taken: \(found ?? "nothing")")
        } catch {
            #expect(error.status == .misused && error.description.contains(words), "\(error)")
            #expect(error.description.contains("GATEHOUSE_ATTACK_TOKEN_FILE"))
            #expect(!error.description.contains("hunter2"))
        }
    }
}
