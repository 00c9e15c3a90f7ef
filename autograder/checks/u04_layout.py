"""Unit 4: sink_relayouts."""
