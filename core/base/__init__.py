"""What everything may use: errors, wording, odds, options, arrays, named axes. It imports nothing else of core."""
