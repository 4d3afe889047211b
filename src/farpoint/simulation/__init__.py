"""The compiled step that measures and agents share: arrays, random streams, one decision."""
