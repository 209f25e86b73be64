"""Questions of private decisions: what candidates cost, cuts, covers, rules and orders. Part of the trusted kernel."""
