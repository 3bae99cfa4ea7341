"""Hopper's asynchronous units as a teaching model: mbarriers, TMA copies, warpgroup products.

A copy lands and a product is computed when it is issued; what is checked is that nothing depends on
that. Times are left out, but for ticks (see ``machine.async_events``), and so are clusters,
multicast, operands from registers, and element types of wgmma but float16."""
