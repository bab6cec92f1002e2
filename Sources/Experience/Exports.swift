// An adopter imports `Experience` alone: what a gateway is told comes with it.
@_exported public import EdgeConfiguration
