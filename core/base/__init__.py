"""What everything may use: errors, wording, odds, declared options, named axes. It imports nothing else of core."""
