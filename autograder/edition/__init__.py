"""From notebook sources to what a learner, a class or a teacher gets."""
