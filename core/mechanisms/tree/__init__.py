"""The flagship: few tables with little noise, a junction tree, re-weighted records."""
