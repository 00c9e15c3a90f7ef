"""How far a learner is: kept beside the notebooks, shown on the start page, sent nowhere.

    progress.json        what each exercise came to, and what the four models cost last
    predictions.json     the guesses, and what came out
    minutes.json         minutes spent, only where the learner asked for it

Next room: page.py, what the start page shows; keep.py, how these files are written.
"""
