"""The lab of unit 18: a report on a model of the student's own, and advice from cited facts."""
