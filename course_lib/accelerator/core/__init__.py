"""The chip at work: three engines, queues, tokens, one DMA port; clocks, stalls and faults.

    simulate(program, dram, PRESETS["npu"]).total     ->   clocks until every engine is done

Next room: `needs.py`.
"""
