"""Lessons: what earlier sessions learned when a red test turned green, kept as files and found by words. Optional."""
