enum HostileTokensPlaceholder {}
