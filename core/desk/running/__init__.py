"""Work that outlives the page that asked for it: the queue, and the process that it is done in."""
