"""What a workspace keeps beside its ledger, a small file each: names, shared items, keys of programs, the publisher."""
