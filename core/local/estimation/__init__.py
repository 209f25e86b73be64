"""From reports to shares, curves and means with intervals. Everything here is post-processing of what people sent."""
