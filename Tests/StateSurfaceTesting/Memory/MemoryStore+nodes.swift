import StateSurface

extension MemoryStore: NodeStore {
    package func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String> {
        try write { tables -> Set<String> in
            try tables.refuseNUL(in: nodeID)
            tables.beats += 1
            tables.nodes[nodeID] = max(tables.nodes[nodeID] ?? .min, at)
            return Set(tables.nodes.filter { $0.value >= at - within }.keys)
        }
    }
}

extension MemoryStore: KeyRegistry {
    package func registeredKeys() async throws -> Set<String> { try read { $0.signingKeys } }

    package func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool {
        try write { tables -> Bool in
            try tables.refuseNUL(in: signingKey)
            let registered = tables.signingKeys
            guard registered.isEmpty || !registered.isDisjoint(with: held.union([signingKey])) else { return false }
            tables.signingKeys = registered.subtracting(superseded).union([signingKey])
            return true
        }
    }
}
