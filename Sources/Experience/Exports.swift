// An adopter imports only `Experience`; the types of the configuration come with it.
@_exported public import EdgeConfiguration
