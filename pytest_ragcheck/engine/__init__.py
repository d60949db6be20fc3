"""Runs many questions at once and hands each record to its item."""

# - A `Prefetcher` in each process evaluates questions before their items run, in one private event loop.
# - The processes of a run share a store. A process claims a question in the store before it asks. The store keeps
#   the records, so that a killed run can be resumed.
# - Every request takes a slot, for the endpoint or for the judge: a locked byte of a file in the run folder. The limit
#   is the number of slots, and the system frees the slots of a process that dies.
# - After a 429 or 503 all processes use fewer slots. The file of the slots holds the shared numbers of the limit, and
#   the time of the last request.
# - Processes that share no disk share no slots: each gets an equal part of the limit and asks only for its own items.
