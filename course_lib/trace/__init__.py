"""What happened when: one writer for the processor, the chip and whatever else has a clock.

    chrome.py    lanes with spans, arrows and curves, as a file that a viewer opens

Nothing here knows who worked; `course_lib/accelerator/trace/lanes.py` says it of the chip. Next
room: `chrome.py`.
"""
